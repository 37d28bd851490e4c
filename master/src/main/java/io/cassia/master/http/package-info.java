/** The master's admin endpoints over HTTP (spec mooncake-store 12.1). */
@NullMarked
@CheckReturnValue
package io.cassia.master.http;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
