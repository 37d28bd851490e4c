/**
 * Transports between processes of one user on one host: copies in shared memory, and copies by the
 * kernel. Begin with {@link io.cassia.transfer.transport.shm.ControlLayout}.
 */
@NullMarked
@CheckReturnValue
package io.cassia.transfer.transport.shm;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
