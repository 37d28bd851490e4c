/** Tests. */
@NullMarked
package io.cassia.transfer;

import org.jspecify.annotations.NullMarked;
