/** Tests. */
@NullMarked
package io.cassia.transfer.transport;

import org.jspecify.annotations.NullMarked;
