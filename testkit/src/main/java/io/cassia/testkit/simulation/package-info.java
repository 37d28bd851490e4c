/**
 * A world in one thread: virtual time, processes that crash and stand still, a network that loses,
 * delays and repeats messages, and a checker of what clients saw. Everything is a function of a
 * seed, so that a failure is replayed by it.
 */
@NullMarked
package io.cassia.testkit.simulation;

import org.jspecify.annotations.NullMarked;
