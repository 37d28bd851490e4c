package io.cassia.datadist.cache;

import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Immutable. Checks and makes the memory of caches. */
public final class Tensors {
    private Tensors() {}

    /**
     * The segments cut to the size of the tensors. {@code LLM_PARAM_INVALID} when their number is
     * not that of the tensors, one is smaller, has the address 0, or is heap memory.
     */
    public static Outcome<List<MemorySegment>> require(
            List<MemorySegment> segments, Geometry geometry) {
        if (segments.size() != geometry.numTensors()) {
            return invalid(
                    "%d addresses for %d tensors"
                            .formatted(segments.size(), geometry.numTensors()));
        }
        List<MemorySegment> tensors = new ArrayList<>(segments.size());
        for (MemorySegment segment : segments) {
            if (!segment.isNative() || segment.address() == 0) {
                return invalid("tensor %d is not native memory".formatted(tensors.size()));
            }
            if (segment.byteSize() < geometry.tensorBytes()) {
                return invalid(
                        "tensor %d has %d bytes, its shape needs %d"
                                .formatted(
                                        tensors.size(),
                                        segment.byteSize(),
                                        geometry.tensorBytes()));
            }
            tensors.add(segment.asSlice(0, geometry.tensorBytes()));
        }
        return Outcome.ok(tensors);
    }

    /**
     * Memory at addresses of the caller, who answers for it being there and staying there. {@code
     * LLM_PARAM_INVALID} for the address 0 and a wrong number of addresses.
     */
    @SuppressWarnings("restricted") // The contract of the addresses is the caller's.
    public static Outcome<List<MemorySegment>> at(long[] addrs, Geometry geometry) {
        List<MemorySegment> segments = new ArrayList<>(addrs.length);
        for (long addr : addrs) {
            segments.add(MemorySegment.ofAddress(addr).reinterpret(geometry.tensorBytes()));
        }
        return require(segments, geometry);
    }

    private static Outcome<List<MemorySegment>> invalid(String detail) {
        return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, detail);
    }
}
