/**
 * KV caches: their geometry, their keys and the references that keep them, and copies inside one
 * instance. Knows no peers.
 */
@NullMarked
@CheckReturnValue
package io.cassia.datadist.cache;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
