/** Tests. */
@NullMarked
package io.cassia.transfer.memory;

import org.jspecify.annotations.NullMarked;
