package io.cassia.datadist.exchange;

import io.cassia.datadist.cache.Blocks;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheRef;
import io.cassia.datadist.cache.Geometry;
import io.cassia.datadist.cache.LayerRange;
import io.cassia.datadist.cache.Pieces;
import io.cassia.datadist.cache.TensorSelection;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;

/** Immutable. Checks the local half of pushes. */
final class PushPlans {
    private PushPlans() {}

    /** One batch to one batch, or to addresses where {@code target} says so. */
    static Outcome<PushPlan> batch(
            Geometry geometry, int srcBatch, PushTarget target, TransferOptions options) {
        long stride = geometry.strideBytes();
        if (srcBatch < 0 || srcBatch >= geometry.batches()) {
            return invalid(
                    "source batch %d is not in 0..%d".formatted(srcBatch, geometry.batches() - 1));
        }
        return selection(geometry, options)
                .map(
                        tensors ->
                                new PushPlan(
                                        tensors,
                                        srcBatch * stride,
                                        target,
                                        new Shape.Span(0, stride),
                                        Pieces.span(0, 0, stride)));
    }

    /** Blocks to blocks. */
    static Outcome<PushPlan> blocks(
            Geometry geometry, long[] src, long[] dst, PushTarget target, TransferOptions options) {
        return Blocks.requirePairs(src, dst)
                .then(ok -> Blocks.require(src, geometry.batches(), "source"))
                .then(ok -> Blocks.require(dst, Long.MAX_VALUE, "destination"))
                .then(ok -> requireWhole(target))
                .then(ok -> selection(geometry, options))
                .then(
                        tensors -> {
                            long bytes = geometry.strideBytes();
                            long max = Blocks.max(dst);
                            if (Math.multiplyHigh(max + 1, bytes) != 0 || (max + 1) * bytes < 0) {
                                return invalid("destination block " + max + " is out of range");
                            }
                            return Outcome.ok(
                                    new PushPlan(
                                            tensors,
                                            0,
                                            target,
                                            new Shape.Blocks(bytes, max),
                                            Pieces.blocks(src, dst, bytes)));
                        });
    }

    /** One batch cut into blocks of the receiver. */
    static Outcome<PushPlan> batchToBlocks(
            Geometry geometry,
            int srcBatch,
            long[] dst,
            long blockBytes,
            PushTarget target,
            TransferOptions options) {
        long stride = geometry.strideBytes();
        if (srcBatch < 0 || srcBatch >= geometry.batches()) {
            return invalid(
                    "source batch %d is not in 0..%d".formatted(srcBatch, geometry.batches() - 1));
        }
        long max = Blocks.max(dst);
        if (blockBytes < 1
                || dst.length == 0
                || Math.multiplyHigh(max + 1, blockBytes) != 0
                || (max + 1) * blockBytes < 0
                || (dst.length - 1) * blockBytes >= stride) {
            return invalid(
                    "%d blocks of %d bytes for a batch of %d bytes"
                            .formatted(dst.length, blockBytes, stride));
        }
        long extent = Math.min(stride, dst.length * blockBytes);
        return Blocks.require(dst, Long.MAX_VALUE, "destination")
                .then(ok -> requireWhole(target))
                .then(ok -> selection(geometry, options))
                .map(
                        tensors ->
                                new PushPlan(
                                        tensors,
                                        srcBatch * stride,
                                        target,
                                        new Shape.BatchToBlocks(extent, blockBytes, max),
                                        Pieces.batchToBlocks(0, extent, dst, blockBytes)));
    }

    /** Layers of a cache as the target of a push. */
    static PushTarget toCache(CacheRef ref, TransferOptions options) {
        LayerRange layers = options.dstLayers();
        return new PushTarget.ToCache(
                ref, layers.first(), layers.last(), options.tensorsPerLayer());
    }

    private static Outcome<PushTarget> requireWhole(PushTarget target) {
        return target instanceof PushTarget.ToCache cache
                        && cache.ref() instanceof CacheIndex index
                        && index.batchIndex() != 0
                ? invalid("blocks are pushed to batch " + index.batchIndex() + ", not to the whole")
                : Outcome.ok(target);
    }

    private static Outcome<TensorSelection> selection(Geometry geometry, TransferOptions options) {
        if (options.sizeBytes() != -1) {
            return invalid(
                    "size " + options.sizeBytes() + ": a push moves whole batches or blocks");
        }
        if (options.srcOffset() != 0 || options.dstOffset() != 0) {
            return invalid("a push has no offsets");
        }
        return options.check()
                .then(
                        ok ->
                                TensorSelection.of(
                                        geometry.numTensors(),
                                        options.tensorsPerLayer(),
                                        options.srcLayers(),
                                        true));
    }

    private static <T> Outcome<T> invalid(String detail) {
        return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, detail);
    }
}
