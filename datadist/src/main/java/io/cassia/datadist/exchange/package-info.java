/**
 * Moving KV caches over links: pull, push, layer-wise push, and the leases that keep memory while a
 * peer reads it.
 */
@NullMarked
@CheckReturnValue
package io.cassia.datadist.exchange;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
