/**
 * The three code families (Transfer Engine, Store, LLM-DataDist), their texts, and {@link
 * io.cassia.status.Outcome}: failure as data. Knows nothing but the JDK.
 */
@NullMarked
@CheckReturnValue
package io.cassia.status;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
