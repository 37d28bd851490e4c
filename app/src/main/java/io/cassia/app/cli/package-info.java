/** The command line: one class per command, no domain logic. */
@NullMarked
@CheckReturnValue
package io.cassia.app.cli;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
