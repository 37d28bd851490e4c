/**
 * Links between clusters: control connections, handshake, state of a link and who uses it. Knows no
 * caches.
 */
@NullMarked
@CheckReturnValue
package io.cassia.datadist.link;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
