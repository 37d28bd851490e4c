/** Tests. */
@NullMarked
package io.cassia.transfer.net;

import org.jspecify.annotations.NullMarked;
