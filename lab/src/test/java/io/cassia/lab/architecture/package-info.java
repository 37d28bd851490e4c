/** The rules of the house that the compiler does not hold. */
@NullMarked
package io.cassia.lab.architecture;

import org.jspecify.annotations.NullMarked;
