package io.cassia.datadist.memory;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferRequest;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;

/**
 * What an instance needs of the engine that moves bytes: memory, and one-sided reads. Guarded. The
 * seam exists so that tests can stall, fail and count transfers.
 */
public interface DataPlane extends AutoCloseable {
    /** The name under which peers open this side's memory. */
    String localName();

    /**
     * Memory of the host that peers can read; {@code LLM_OUT_OF_MEMORY} when there is not enough.
     */
    Outcome<PlaneMemory> allocate(long bytes);

    /** Lets peers read memory of the user. */
    Outcome<PlaneMemory> register(MemorySegment memory);

    /** Finds a peer's memory by its name. */
    Outcome<SegmentHandle> open(String name);

    /** Closes what {@link #open} has opened; transfers under way fail. */
    void letGo(SegmentHandle segment);

    /**
     * Moves all requests, one outcome each in their order; nothing writes to local memory after
     * return.
     */
    List<Outcome<Done>> transfer(List<TransferRequest> requests, Duration deadline);

    /** Ends all transfers; memory that was allocated is gone. Idempotent. */
    @Override
    void close();
}
