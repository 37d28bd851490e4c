/** Test tools: virtual clock, golden-vector reader, contract kits. */
@NullMarked
@CheckReturnValue
package io.cassia.testkit;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
