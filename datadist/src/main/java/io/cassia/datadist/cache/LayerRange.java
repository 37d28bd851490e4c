package io.cassia.datadist.cache;

import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;

/**
 * Layers of a cache, both ends included. Immutable. Any values can be held; {@link
 * TensorSelection#of} says whether they fit a cache.
 *
 * @param first first layer, -1 in {@link #ALL}
 * @param last last layer, -1 in {@link #ALL}
 */
public record LayerRange(int first, int last) {
    /** Every layer. */
    public static final LayerRange ALL = new LayerRange(-1, -1);

    /** Layers {@code start} to {@code end - 1}, as Python's {@code range} counts. */
    public static LayerRange halfOpen(int start, int end) {
        return new LayerRange(start, end - 1);
    }

    /** One layer. */
    public static LayerRange single(int layer) {
        return new LayerRange(layer, layer);
    }

    public boolean isAll() {
        return first == -1 && last == -1;
    }

    /** Number of layers; only for ranges that are not {@link #ALL}. */
    public int count() {
        return last - first + 1;
    }

    /**
     * {@code LLM_PARAM_INVALID} unless it is {@link #ALL}, or begins at 0 and does not end before.
     */
    public Outcome<Done> check() {
        return isAll() || (first >= 0 && last >= first)
                ? Outcome.done()
                : Outcome.failed(
                        LlmStatus.LLM_PARAM_INVALID,
                        "layer range (%d,%d) is malformed: both ends are included and start at 0, or both are -1"
                                .formatted(first, last));
    }

    @Override
    public String toString() {
        return isAll() ? "all layers" : "layers " + first + ".." + last;
    }
}
