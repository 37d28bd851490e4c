/** Tests. */
@NullMarked
package io.cassia.transfer.metadata;

import org.jspecify.annotations.NullMarked;
