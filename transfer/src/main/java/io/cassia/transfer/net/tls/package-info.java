/** The secure mode: TLS 1.3 with certificates on both sides, and the proof of the cluster token. */
@NullMarked
@CheckReturnValue
package io.cassia.transfer.net.tls;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
