package io.cassia.datadist.memory;

import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Confined to one test. Memory without an engine; nothing can be transferred. */
final class HeapPlane implements DataPlane {
    final List<MemorySegment> registered = new ArrayList<>();
    long limitBytes = Long.MAX_VALUE;

    @Override
    public String localName() {
        return "heap";
    }

    @Override
    public Outcome<PlaneMemory> allocate(long bytes) {
        return bytes > limitBytes
                ? Outcome.failed(LlmStatus.LLM_OUT_OF_MEMORY, "the test says so")
                : register(Arena.ofAuto().allocate(bytes, 4096));
    }

    @Override
    public Outcome<PlaneMemory> register(MemorySegment memory) {
        registered.add(memory);
        return Outcome.ok(
                new PlaneMemory(
                        memory,
                        () -> {
                            registered.removeIf(m -> m.address() == memory.address());
                            return Outcome.done();
                        }));
    }

    @Override
    public Outcome<SegmentHandle> open(String name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void letGo(SegmentHandle segment) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<Outcome<Done>> transfer(List<TransferRequest> requests, Duration deadline) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
}
