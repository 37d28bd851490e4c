/**
 * Messages of Cassia's own master methods, registered under {@code cassia::} names beside
 * Mooncake's. A peer that does not know them answers "function not registered" and is spoken to in
 * plain Mooncake.
 */
@NullMarked
@CheckReturnValue
package io.cassia.rpc.cassia;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
