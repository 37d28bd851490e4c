/** Transfers inside one process: a memory copy. */
@NullMarked
@CheckReturnValue
package io.cassia.transfer.transport.local;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
