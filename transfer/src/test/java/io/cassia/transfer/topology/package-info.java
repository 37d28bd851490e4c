/** Tests of topology on fabricated hosts and on this one. */
@NullMarked
package io.cassia.transfer.topology;

import org.jspecify.annotations.NullMarked;
