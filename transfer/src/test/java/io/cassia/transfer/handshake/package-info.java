/** Tests. */
@NullMarked
package io.cassia.transfer.handshake;

import org.jspecify.annotations.NullMarked;
