/** Tests of settings. */
@NullMarked
package io.cassia.transfer.environment;

import org.jspecify.annotations.NullMarked;
