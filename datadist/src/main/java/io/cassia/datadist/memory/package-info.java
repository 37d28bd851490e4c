/**
 * Memory of one instance: pools for device-tagged and host-tagged caches, and the seam to the
 * engine that moves bytes between instances.
 */
@NullMarked
@CheckReturnValue
package io.cassia.datadist.memory;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
