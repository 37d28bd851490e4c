/** Every code of the contract from a real path: the public API, a natural reason. */
@NullMarked
package io.cassia.lab.codes;

import org.jspecify.annotations.NullMarked;
