/** Whole clusters of real processes that get killed. */
@NullMarked
package io.cassia.lab.process;

import org.jspecify.annotations.NullMarked;
