/**
 * What LLM-DataDist does, shown and measured: a demonstration with real shapes, and a benchmark.
 */
@NullMarked
@CheckReturnValue
package io.cassia.datadist.bench;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
