/** Whole-cluster evidence: end to end, architecture, error coverage. */
@NullMarked
@CheckReturnValue
package io.cassia.lab;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
