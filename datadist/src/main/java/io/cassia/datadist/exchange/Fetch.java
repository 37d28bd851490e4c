package io.cassia.datadist.exchange;

import io.cassia.datadist.cache.Pieces;
import io.cassia.datadist.link.Link;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * What one side reads from the other. Immutable.
 *
 * @param link where the other side is
 * @param grant leave to read, and addresses
 * @param tensors destination, one segment per address
 * @param pieces ranges of each tensor
 */
record Fetch(Link link, GrantMessage grant, List<MemorySegment> tensors, Pieces pieces) {}
