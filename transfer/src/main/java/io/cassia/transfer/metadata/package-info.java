/** Segment descriptors and where they are kept: codecs, clients and the HTTP server. */
@NullMarked
@CheckReturnValue
package io.cassia.transfer.metadata;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
