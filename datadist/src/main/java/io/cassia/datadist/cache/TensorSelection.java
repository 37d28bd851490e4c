package io.cassia.datadist.cache;

import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;

/**
 * The consecutive tensors that a range of layers stands for. Immutable.
 *
 * @param first first tensor
 * @param count number of tensors
 */
public record TensorSelection(int first, int count) {
    /** Tensors of a layer where nothing else is said: K and V. */
    public static final int DEFAULT_TENSORS_PER_LAYER = 2;

    /** Most tensors per layer: an unsigned byte in the C++ API. */
    public static final int MAX_TENSORS_PER_LAYER = 255;

    /**
     * The tensors of a range. {@code LLM_PARAM_INVALID} when the range is malformed or ends behind
     * the cache, when {@code perLayer} is not in 1..255, or when it does not divide the number of
     * tensors although a range is given or {@code layered} is set.
     *
     * @param layered whether the operation goes layer by layer (a push), so that the tensors have
     *     to form whole layers in any case
     */
    public static Outcome<TensorSelection> of(
            int numTensors, int perLayer, LayerRange range, boolean layered) {
        if (perLayer < 1 || perLayer > MAX_TENSORS_PER_LAYER) {
            return invalid("tensor_num_per_layer " + perLayer + " is not in 1..255");
        }
        boolean all = range.isAll();
        if (range.check() instanceof Outcome.Failed<Done> malformed) {
            return malformed.as();
        }
        if ((!all || layered) && numTensors % perLayer != 0) {
            return invalid(
                    "%d tensors do not form layers of %d tensors".formatted(numTensors, perLayer));
        }
        if (all) {
            return Outcome.ok(new TensorSelection(0, numTensors));
        }
        int layers = numTensors / perLayer;
        if (range.last() >= layers) {
            return invalid(range + " end behind the cache of " + layers + " layers");
        }
        return Outcome.ok(new TensorSelection(range.first() * perLayer, range.count() * perLayer));
    }

    private static Outcome<TensorSelection> invalid(String detail) {
        return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, detail);
    }
}
