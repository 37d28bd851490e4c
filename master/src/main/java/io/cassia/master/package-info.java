/** The store's master: objects, leases, placement, eviction; bytes never pass here. */
@NullMarked
@CheckReturnValue
package io.cassia.master;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
