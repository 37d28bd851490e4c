/** Mains, wiring and the command line. */
@NullMarked
@CheckReturnValue
package io.cassia.app;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
