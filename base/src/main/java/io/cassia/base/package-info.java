/**
 * Seams of the process (clock), human sizes and durations, shared byte strings. Knows nothing of
 * the domain.
 */
@NullMarked
@CheckReturnValue
package io.cassia.base;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
