/** Measuring the store beside what the machine and its peers can do. */
@NullMarked
@CheckReturnValue
package io.cassia.app.bench.store;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
