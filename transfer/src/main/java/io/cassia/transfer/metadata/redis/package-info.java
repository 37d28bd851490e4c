/** Metadata in Redis: loaded only when such a store is opened. */
@NullMarked
@CheckReturnValue
package io.cassia.transfer.metadata.redis;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
