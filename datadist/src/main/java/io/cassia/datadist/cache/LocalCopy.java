package io.cassia.datadist.cache;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Copies between caches of one instance. Guarded: callers queue, one copy runs at a time.
 *
 * <p>Every method ends by its deadline: {@code LLM_WAIT_PROC_TIMEOUT} when the queue or the copy
 * itself took longer, and then the destination holds a part.
 */
public final class LocalCopy {
    private static final long STEP_BYTES = 64L << 20;

    private final CacheTable table;
    private final Clock clock;
    private final ReentrantLock queue = new ReentrantLock(true);

    public LocalCopy(CacheTable table, Clock clock) {
        this.table = table;
        this.clock = clock;
    }

    /** One side of a copy whose memory is held. Confined to the copying thread. */
    private record Side(
            Geometry geometry, Placement placement, List<MemorySegment> tensors, Runnable release)
            implements AutoCloseable {
        @Override
        public void close() {
            release.run();
        }
    }

    /**
     * Copies a part of one batch of every tensor. {@code LLM_KV_CACHE_NOT_EXIST} for an unknown
     * cache; {@code LLM_PARAM_INVALID} for a host-tagged source, different numbers of tensors, a
     * batch or a range that is not inside its side.
     */
    public Outcome<Done> batch(BatchCopy copy, long deadlineNanos) {
        return withSides(
                copy.src(),
                copy.dst(),
                (src, dst) -> {
                    if (src.placement() == Placement.HOST) {
                        return invalid("the source of a copy is a host-tagged cache; swap it in");
                    }
                    return checked(copy, src.geometry(), dst.geometry())
                            .then(pieces -> run(src, dst, pieces, deadlineNanos));
                });
    }

    private static Outcome<Pieces> checked(BatchCopy copy, Geometry src, Geometry dst) {
        if (copy.srcBatch() < 0
                || copy.srcBatch() >= src.batches()
                || copy.dstBatch() < 0
                || copy.dstBatch() >= dst.batches()) {
            return invalid(
                    "batch %d of %d to batch %d of %d"
                            .formatted(
                                    copy.srcBatch(),
                                    src.batches(),
                                    copy.dstBatch(),
                                    dst.batches()));
        }
        long srcStride = src.strideBytes();
        long dstStride = dst.strideBytes();
        if (copy.offset() < 0 || copy.offset() >= srcStride || copy.offset() >= dstStride) {
            return invalid(
                    "offset %d is not inside the batches of %d and %d bytes"
                            .formatted(copy.offset(), srcStride, dstStride));
        }
        long size = copy.size() == -1 ? srcStride - copy.offset() : copy.size();
        if (size < 1 || size > srcStride - copy.offset() || size > dstStride - copy.offset()) {
            return invalid(
                    "size %d from offset %d does not fit batches of %d and %d bytes"
                            .formatted(copy.size(), copy.offset(), srcStride, dstStride));
        }
        return Outcome.ok(
                Pieces.span(
                        copy.srcBatch() * srcStride + copy.offset(),
                        copy.dstBatch() * dstStride + copy.offset(),
                        size));
    }

    /**
     * Copies blocks of every tensor: {@code srcBlocks[i]} to {@code dst[i]} for each list of {@code
     * dstBlocks}. {@code LLM_PARAM_INVALID} when lists differ in length, a block does not exist,
     * block sizes or tensor counts differ, or both caches are host-tagged.
     */
    public Outcome<Done> blocks(
            Cache src, Cache dst, long[] srcBlocks, List<long[]> dstBlocks, long deadlineNanos) {
        return blocks(src, dst, srcBlocks, dstBlocks, deadlineNanos, LocalCopy::requireDevice);
    }

    private Outcome<Done> blocks(
            Cache src,
            Cache dst,
            long[] srcBlocks,
            List<long[]> dstBlocks,
            long deadlineNanos,
            Body placements) {
        for (long[] list : dstBlocks) {
            if (list.length != srcBlocks.length) {
                return invalid(
                        "%d source blocks but %d destination blocks"
                                .formatted(srcBlocks.length, list.length));
            }
        }
        if (srcBlocks.length == 0 || dstBlocks.isEmpty()) {
            return invalid("no blocks");
        }
        return withSides(
                src,
                dst,
                (from, to) -> {
                    Outcome<Done> placed = placements.run(from, to);
                    if (!placed.isOk()) {
                        return placed;
                    }
                    Pieces.Builder pieces = new Pieces.Builder(srcBlocks.length);
                    for (long[] list : dstBlocks) {
                        Outcome<Done> fits = requireBlocks(srcBlocks, list, from, to);
                        if (!fits.isOk()) {
                            return fits;
                        }
                        addBlocks(pieces, srcBlocks, list, from.geometry().strideBytes());
                    }
                    return run(from, to, pieces.build(), deadlineNanos);
                });
    }

    /**
     * Copies blocks between a device-tagged and a host-tagged cache, either way. {@code
     * LLM_PARAM_INVALID} when not exactly one of them is host-tagged, and as {@link #blocks}.
     *
     * @param mapping source block to destination block
     */
    public Outcome<Done> swap(Cache src, Cache dst, Map<Long, Long> mapping, long deadlineNanos) {
        long[] from = mapping.keySet().stream().mapToLong(Long::longValue).toArray();
        long[] to = mapping.values().stream().mapToLong(Long::longValue).toArray();
        return blocks(src, dst, from, List.of(to), deadlineNanos, LocalCopy::requireSwap);
    }

    private static Outcome<Done> requireDevice(Side src, Side dst) {
        return src.placement() == Placement.HOST && dst.placement() == Placement.HOST
                ? invalid("both caches are host-tagged")
                : Outcome.done();
    }

    private static Outcome<Done> requireSwap(Side src, Side dst) {
        return src.placement() == dst.placement()
                ? invalid(
                        "a swap needs one host-tagged and one device-tagged cache, not two of "
                                + src.placement())
                : Outcome.done();
    }

    private static void addBlocks(Pieces.Builder pieces, long[] src, long[] dst, long bytes) {
        for (int i = 0; i < src.length; i++) {
            pieces.add(src[i] * bytes, dst[i] * bytes, bytes);
        }
    }

    private static Outcome<Done> requireBlocks(long[] src, long[] dst, Side from, Side to) {
        if (from.geometry().strideBytes() != to.geometry().strideBytes()) {
            return invalid(
                    "blocks of %d bytes and of %d bytes"
                            .formatted(from.geometry().strideBytes(), to.geometry().strideBytes()));
        }
        Outcome<Done> source = Blocks.require(src, from.geometry().batches(), "source");
        return source.isOk() ? Blocks.require(dst, to.geometry().batches(), "destination") : source;
    }

    private interface Body {
        Outcome<Done> run(Side src, Side dst);
    }

    private Outcome<Done> withSides(Cache src, Cache dst, Body body) {
        return switch (side(src)) {
            case Outcome.Failed<Side> failed -> failed.in("source");
            case Outcome.Ok<Side>(Side from) -> {
                try (from) {
                    yield switch (side(dst)) {
                        case Outcome.Failed<Side> failed -> failed.in("destination");
                        case Outcome.Ok<Side>(Side to) -> {
                            try (to) {
                                yield body.run(from, to);
                            }
                        }
                    };
                }
            }
        };
    }

    private Outcome<Side> side(Cache cache) {
        if (cache.isManaged()) {
            return table.pin(cache.cacheId())
                    .map(
                            pin ->
                                    new Side(
                                            pin.geometry(),
                                            pin.placement(),
                                            pin.tensors(),
                                            pin::close));
        }
        return cache.desc()
                .geometry()
                .then(
                        geometry ->
                                Tensors.require(cache.tensors(), geometry)
                                        .map(
                                                tensors ->
                                                        new Side(
                                                                geometry,
                                                                cache.desc().placement(),
                                                                tensors,
                                                                () -> {})));
    }

    private Outcome<Done> run(Side src, Side dst, Pieces pieces, long deadlineNanos) {
        int tensors = src.geometry().numTensors();
        if (tensors != dst.geometry().numTensors()) {
            return invalid(
                    "%d tensors to %d tensors (upstream: 0x5010B014 CACHE_INCOMPATIBLE)"
                            .formatted(tensors, dst.geometry().numTensors()));
        }
        if (!enter(deadlineNanos)) {
            return timeout("waited behind other copies");
        }
        try {
            for (int t = 0; t < tensors; t++) {
                if (!copy(src.tensors().get(t), dst.tensors().get(t), pieces, deadlineNanos)) {
                    return timeout("%d of %d tensors were copied".formatted(t, tensors));
                }
            }
            return Outcome.done();
        } finally {
            queue.unlock();
        }
    }

    private boolean enter(long deadlineNanos) {
        try {
            return queue.tryLock(deadlineNanos - clock.nanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private boolean copy(MemorySegment src, MemorySegment dst, Pieces pieces, long deadlineNanos) {
        if (clock.nanos() - deadlineNanos > 0) {
            return false;
        }
        long sinceCheck = 0;
        for (int p = 0; p < pieces.count(); p++) {
            for (long done = 0; done < pieces.lengthBytes(p); done += STEP_BYTES) {
                if (sinceCheck >= STEP_BYTES) {
                    if (clock.nanos() - deadlineNanos > 0) {
                        return false;
                    }
                    sinceCheck = 0;
                }
                long length = Math.min(STEP_BYTES, pieces.lengthBytes(p) - done);
                MemorySegment.copy(
                        src, pieces.srcOffset(p) + done, dst, pieces.dstOffset(p) + done, length);
                sinceCheck += length;
            }
        }
        return true;
    }

    private static <T> Outcome<T> timeout(String detail) {
        return Outcome.failed(
                LlmStatus.LLM_WAIT_PROC_TIMEOUT,
                "local copy: " + detail + "; raise llm.SyncKvCacheWaitTime or copy less at once");
    }

    private static <T> Outcome<T> invalid(String detail) {
        return CacheTable.invalid(detail);
    }
}
