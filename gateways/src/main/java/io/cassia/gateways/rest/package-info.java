/** The store over HTTP. */
@NullMarked
@CheckReturnValue
package io.cassia.gateways.rest;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
