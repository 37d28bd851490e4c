/** Measures the Transfer Engine, beside what the machine itself can do. */
@NullMarked
@CheckReturnValue
package io.cassia.app.bench;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
