/** The store's client library and storage node. */
@NullMarked
@CheckReturnValue
package io.cassia.store;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
