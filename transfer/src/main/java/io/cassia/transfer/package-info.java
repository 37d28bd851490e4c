/** Transfer Engine: registered memory, segments, batches, transports, metadata. */
@NullMarked
@CheckReturnValue
package io.cassia.transfer;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
