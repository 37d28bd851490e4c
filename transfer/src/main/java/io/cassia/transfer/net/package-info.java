/** Sockets: binding, connecting, and deadlines that close what hangs. */
@NullMarked
@CheckReturnValue
package io.cassia.transfer.net;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
