package io.cassia.datadist.exchange;

import io.cassia.datadist.cache.Blocks;
import io.cassia.datadist.cache.Geometry;
import io.cassia.datadist.cache.Pieces;
import io.cassia.datadist.cache.TensorSelection;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;

/** Immutable. Checks the local half of pulls. */
final class PullPlans {
    private PullPlans() {}

    /** One batch, or a part of it. */
    static Outcome<PullPlan> batch(Geometry geometry, int dstBatch, TransferOptions options) {
        long stride = geometry.strideBytes();
        if (dstBatch < 0 || dstBatch >= geometry.batches()) {
            return invalid(
                    "destination batch %d is not in 0..%d"
                            .formatted(dstBatch, geometry.batches() - 1));
        }
        long offset = options.dstOffset();
        if (options.srcOffset() < 0 || offset < 0 || offset >= stride) {
            return invalid(
                    "offsets %d and %d: not negative, and inside the destination batch of %d bytes"
                            .formatted(options.srcOffset(), offset, stride));
        }
        long size = options.sizeBytes() == -1 ? stride - offset : options.sizeBytes();
        if (size < 1 || size > stride - offset) {
            return invalid(
                    "size %d with offset %d does not fit the destination batch of %d bytes"
                            .formatted(options.sizeBytes(), offset, stride));
        }
        boolean mayConsume = options.srcOffset() == 0 && offset == 0;
        return selection(geometry, options)
                .map(
                        tensors ->
                                new PullPlan(
                                        tensors,
                                        new Shape.Span(options.srcOffset(), size),
                                        Pieces.span(0, dstBatch * stride + offset, size),
                                        mayConsume));
    }

    /** Blocks to blocks. */
    static Outcome<PullPlan> blocks(
            Geometry geometry, long[] src, long[] dst, TransferOptions options) {
        return Blocks.requirePairs(src, dst)
                .then(ok -> Blocks.require(src, Long.MAX_VALUE, "source"))
                .then(ok -> Blocks.require(dst, geometry.batches(), "destination"))
                .then(ok -> selection(geometry, options))
                .map(
                        tensors -> {
                            long bytes = geometry.strideBytes();
                            return new PullPlan(
                                    tensors,
                                    new Shape.Blocks(bytes, Blocks.max(src)),
                                    Pieces.blocks(src, dst, bytes),
                                    false);
                        });
    }

    /** One batch of the owner cut into blocks here. */
    static Outcome<PullPlan> batchToBlocks(Geometry geometry, long[] dst, TransferOptions options) {
        if (dst.length == 0) {
            return invalid("no destination blocks");
        }
        long bytes = geometry.strideBytes();
        long extent = options.sizeBytes() == -1 ? dst.length * bytes : options.sizeBytes();
        if (extent <= (dst.length - 1) * bytes || extent > dst.length * bytes) {
            return invalid(
                    "size %d does not fill %d blocks of %d bytes"
                            .formatted(options.sizeBytes(), dst.length, bytes));
        }
        return Blocks.require(dst, geometry.batches(), "destination")
                .then(ok -> selection(geometry, options))
                .map(
                        tensors ->
                                new PullPlan(
                                        tensors,
                                        new Shape.BatchToBlocks(extent, bytes, Blocks.max(dst)),
                                        Pieces.batchToBlocks(0, extent, dst, bytes),
                                        true));
    }

    /**
     * Local selection; both ranges are checked for their form here, the remote one at the owner.
     */
    private static Outcome<TensorSelection> selection(Geometry geometry, TransferOptions options) {
        return options.check()
                .then(
                        ok ->
                                TensorSelection.of(
                                        geometry.numTensors(),
                                        options.tensorsPerLayer(),
                                        options.dstLayers(),
                                        !options.srcLayers().isAll()));
    }

    private static <T> Outcome<T> invalid(String detail) {
        return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, detail);
    }
}
