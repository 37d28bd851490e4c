package io.cassia.datadist.memory;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/**
 * Memory that peers can read until it is released. Immutable.
 *
 * @param memory the bytes
 * @param release ends the peers' access: no new transfer starts, those in progress end or are
 *     aborted; on return nobody touches the memory
 */
public record PlaneMemory(MemorySegment memory, Supplier<Outcome<Done>> release) {}
