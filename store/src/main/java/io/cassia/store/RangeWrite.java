package io.cassia.store;

import io.cassia.base.ByteString;
import java.lang.foreign.MemorySegment;

/**
 * A range of an object to be written. Immutable.
 *
 * @param offsetBytes where it begins in the object
 * @param bytes native memory, as long as the range
 */
public record RangeWrite(ByteString key, long offsetBytes, MemorySegment bytes) {}
