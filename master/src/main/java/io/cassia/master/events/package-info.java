/** Publishes what becomes of objects (spec mooncake-store 12.5). */
@NullMarked
@CheckReturnValue
package io.cassia.master.events;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
