/** Settings: tables of them, and the loader of files, environment variables and flags. */
@NullMarked
@CheckReturnValue
package io.cassia.base.config;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
