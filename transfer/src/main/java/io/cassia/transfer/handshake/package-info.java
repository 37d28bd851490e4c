/** The handshake port: descriptors, notifications and probes between engines (spec 6). */
@NullMarked
@CheckReturnValue
package io.cassia.transfer.handshake;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
