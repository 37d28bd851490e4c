package io.cassia.master.core;

import java.util.Optional;

/**
 * What one slice of an operation over all objects gave. Immutable.
 *
 * @param part this slice's share of the answer
 * @param rest where to go on; empty when that was all
 * @param <R> kind of the answer
 */
public record Slice<R>(R part, Optional<Cursor> rest) {}
