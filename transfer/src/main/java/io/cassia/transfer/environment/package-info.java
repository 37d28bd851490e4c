/** Settings of an engine by upstream's environment variables and by Cassia's own names. */
@NullMarked
@CheckReturnValue
package io.cassia.transfer.environment;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
