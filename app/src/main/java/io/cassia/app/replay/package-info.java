/** Block traces and the engine that runs them against a store, checking every byte. */
@NullMarked
@CheckReturnValue
package io.cassia.app.replay;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
