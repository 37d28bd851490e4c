/** Metadata in etcd: loaded only when such a store is opened. */
@NullMarked
@CheckReturnValue
package io.cassia.transfer.metadata.etcd;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
