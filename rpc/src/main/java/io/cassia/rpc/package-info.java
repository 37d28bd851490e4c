/** coro_rpc framing, client and server: moves frames, does not know what the methods mean. */
@NullMarked
@CheckReturnValue
package io.cassia.rpc;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
