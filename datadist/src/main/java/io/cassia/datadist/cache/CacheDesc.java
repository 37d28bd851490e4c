package io.cassia.datadist.cache;

import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * What a cache looks like: a number of tensors of one shape and type. Immutable. Any values can be
 * held; {@link #geometry()} says whether they make a cache.
 *
 * @param numTensors tensors of the cache, 1 to {@value #MAX_TENSORS}
 * @param dataType type of each element
 * @param shape dimensions of each tensor, 1 to {@value #MAX_DIMENSIONS} of them, each above 0; the
 *     first one counts batches (or blocks)
 * @param placement pool it belongs to
 */
public record CacheDesc(int numTensors, DataType dataType, List<Long> shape, Placement placement) {
    /** Most dimensions of a shape. */
    public static final int MAX_DIMENSIONS = 31;

    /** Most tensors of a cache: their addresses have to fit into one control message. */
    public static final int MAX_TENSORS = 65_536;

    public CacheDesc {
        Objects.requireNonNull(dataType);
        Objects.requireNonNull(placement);
        shape = List.copyOf(shape);
    }

    /** A device-tagged cache. */
    public static CacheDesc device(int numTensors, DataType dataType, long... shape) {
        return new CacheDesc(numTensors, dataType, boxed(shape), Placement.DEVICE);
    }

    /** A host-tagged cache. */
    public static CacheDesc host(int numTensors, DataType dataType, long... shape) {
        return new CacheDesc(numTensors, dataType, boxed(shape), Placement.HOST);
    }

    /** Sizes in bytes; {@code LLM_PARAM_INVALID} naming the number that breaks a rule. */
    public Outcome<Geometry> geometry() {
        if (numTensors < 1 || numTensors > MAX_TENSORS) {
            return invalid("num_tensors " + numTensors + " is not in 1.." + MAX_TENSORS);
        }
        if (shape.isEmpty() || shape.size() > MAX_DIMENSIONS) {
            return invalid(
                    "shape "
                            + shape
                            + " has "
                            + shape.size()
                            + " dimensions, not 1.."
                            + MAX_DIMENSIONS);
        }
        long bytes = dataType.bytes();
        for (long dimension : shape) {
            if (dimension < 1) {
                return invalid("shape " + shape + " holds the dimension " + dimension);
            }
            long high = Math.multiplyHigh(bytes, dimension);
            bytes *= dimension;
            if (high != 0 || bytes < 0) {
                return invalid("shape " + shape + " of " + dataType + " exceeds 2^63-1 bytes");
            }
        }
        if (Math.multiplyHigh(bytes, numTensors) != 0 || bytes * numTensors < 0) {
            return invalid(numTensors + " tensors of " + bytes + " bytes exceed 2^63-1 bytes");
        }
        return Outcome.ok(new Geometry(numTensors, bytes, shape.getFirst()));
    }

    private static Outcome<Geometry> invalid(String detail) {
        return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, detail);
    }

    private static List<Long> boxed(long[] shape) {
        return Arrays.stream(shape).boxed().toList();
    }
}
