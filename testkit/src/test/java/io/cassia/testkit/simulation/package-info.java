@NullMarked
package io.cassia.testkit.simulation;

import org.jspecify.annotations.NullMarked;
