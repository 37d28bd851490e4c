/** Tests. */
@NullMarked
package io.cassia.transfer.transport.tcp;

import org.jspecify.annotations.NullMarked;
