/**
 * LLM-DataDist: clusters, links, caches, pull, push and copy of KV caches. Does not know the store.
 */
@NullMarked
@CheckReturnValue
package io.cassia.datadist;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
