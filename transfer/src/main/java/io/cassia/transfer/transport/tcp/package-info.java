/** The TCP data protocol, versions 1 and 2: server, lanes and pipelining (spec 7). */
@NullMarked
@CheckReturnValue
package io.cassia.transfer.transport.tcp;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
