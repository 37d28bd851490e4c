package io.cassia.datadist.exchange;

import io.cassia.datadist.cache.LayerRange;
import io.cassia.datadist.cache.TensorSelection;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.time.Duration;
import java.util.Optional;

/**
 * What may be said about a transfer beyond its two ends. Immutable; start from {@link #DEFAULT}.
 *
 * @param srcLayers layers to read
 * @param dstLayers layers to write; as many tensors as {@code srcLayers} stands for
 * @param tensorsPerLayer tensors that make a layer
 * @param srcOffset where to begin in the source batch, in bytes; pulls of a batch only
 * @param dstOffset where to begin in the destination batch, in bytes; pulls of a batch only
 * @param sizeBytes bytes per tensor, -1 for the whole destination batch behind its offset; a push
 *     takes -1 only
 * @param timeout limit of the whole call; empty: {@code llm.SyncKvCacheWaitTime}
 * @param keyWait how long a pull lets the owner wait for a cache or key that is not there yet;
 *     zero: not at all
 */
public record TransferOptions(
        LayerRange srcLayers,
        LayerRange dstLayers,
        int tensorsPerLayer,
        long srcOffset,
        long dstOffset,
        long sizeBytes,
        Optional<Duration> timeout,
        Duration keyWait) {
    /** Everything, within the configured time, without waiting for keys. */
    public static final TransferOptions DEFAULT =
            new TransferOptions(
                    LayerRange.ALL,
                    LayerRange.ALL,
                    TensorSelection.DEFAULT_TENSORS_PER_LAYER,
                    0,
                    0,
                    -1,
                    Optional.empty(),
                    Duration.ZERO);

    /** A limit for this call. */
    public TransferOptions withTimeout(Duration value) {
        return new TransferOptions(
                srcLayers,
                dstLayers,
                tensorsPerLayer,
                srcOffset,
                dstOffset,
                sizeBytes,
                Optional.of(value),
                keyWait);
    }

    public TransferOptions withLayers(LayerRange src, LayerRange dst) {
        return new TransferOptions(
                src, dst, tensorsPerLayer, srcOffset, dstOffset, sizeBytes, timeout, keyWait);
    }

    public TransferOptions withTensorsPerLayer(int value) {
        return new TransferOptions(
                srcLayers, dstLayers, value, srcOffset, dstOffset, sizeBytes, timeout, keyWait);
    }

    public TransferOptions withOffsets(long src, long dst) {
        return new TransferOptions(
                srcLayers, dstLayers, tensorsPerLayer, src, dst, sizeBytes, timeout, keyWait);
    }

    public TransferOptions withSize(long value) {
        return new TransferOptions(
                srcLayers,
                dstLayers,
                tensorsPerLayer,
                srcOffset,
                dstOffset,
                value,
                timeout,
                keyWait);
    }

    public TransferOptions withKeyWait(Duration value) {
        return new TransferOptions(
                srcLayers,
                dstLayers,
                tensorsPerLayer,
                srcOffset,
                dstOffset,
                sizeBytes,
                timeout,
                value);
    }

    /**
     * {@code LLM_PARAM_INVALID} for a malformed range, for ranges of different length, and for a
     * limit that is not above 0.
     */
    Outcome<Done> check() {
        if (timeout.isPresent() && !timeout.get().isPositive()) {
            return Outcome.failed(
                    LlmStatus.LLM_PARAM_INVALID, "timeout " + timeout.get() + " is not above 0");
        }
        return srcLayers
                .check()
                .then(ok -> dstLayers.check())
                .then(
                        ok ->
                                srcLayers.isAll()
                                                || dstLayers.isAll()
                                                || srcLayers.count() == dstLayers.count()
                                        ? Outcome.done()
                                        : Outcome.failed(
                                                LlmStatus.LLM_PARAM_INVALID,
                                                "source %s and destination %s differ in number"
                                                        .formatted(srcLayers, dstLayers)));
    }
}
