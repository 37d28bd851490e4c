/** Tests of the state machine without clock, thread or socket. */
@NullMarked
package io.cassia.master.core;

import org.jspecify.annotations.NullMarked;
