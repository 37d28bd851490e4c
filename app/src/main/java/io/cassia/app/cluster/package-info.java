/**
 * Hand-written wiring: one assembly per process, and the seams through which commands reach a
 * cluster.
 */
@NullMarked
@CheckReturnValue
package io.cassia.app.cluster;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
