/** Registered memory: ranges that peers may address, their references, and shared mappings. */
@NullMarked
@CheckReturnValue
package io.cassia.transfer.memory;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
