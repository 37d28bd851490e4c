package io.cassia.store;

import io.cassia.base.ByteString;
import java.lang.foreign.MemorySegment;

/**
 * A range of an object to be read. Immutable.
 *
 * @param offsetBytes where it begins in the object
 * @param into native memory, as long as the range
 */
public record RangeRead(ByteString key, long offsetBytes, MemorySegment into) {}
