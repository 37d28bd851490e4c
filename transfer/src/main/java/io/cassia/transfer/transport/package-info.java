/** How bytes get to a peer: the work items, and the routes that carry them. */
@NullMarked
@CheckReturnValue
package io.cassia.transfer.transport;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
