/**
 * Proof that every code of the contract can be had from the real system. A test says with {@link
 * io.cassia.lab.coverage.Covers} which codes it brings about and how, and proves it through {@link
 * io.cassia.lab.coverage.Coverage}; the run ends with one line that counts them.
 */
@NullMarked
package io.cassia.lab.coverage;

import org.jspecify.annotations.NullMarked;
