/**
 * The master's state machine: objects, leases, placement, eviction, clients and segments as a
 * function of (command, time). No clock, thread, I/O or random number generator inside; the same
 * commands at the same times give the same state.
 */
@NullMarked
@CheckReturnValue
package io.cassia.master.core;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
