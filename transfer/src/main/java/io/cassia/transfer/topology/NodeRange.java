package io.cassia.transfer.topology;

import java.util.OptionalInt;

/**
 * A part of a range that lies on one NUMA node. Immutable.
 *
 * @param offsetBytes from the start of the range
 * @param lengthBytes above 0
 * @param node the node; absent when the pages were never touched and thus lie nowhere yet
 */
public record NodeRange(long offsetBytes, long lengthBytes, OptionalInt node) {
    public NodeRange {
        if (offsetBytes < 0 || lengthBytes < 1) {
            throw new IllegalArgumentException("range " + offsetBytes + "+" + lengthBytes);
        }
    }

    static NodeRange on(long offsetBytes, long lengthBytes, int node) {
        return new NodeRange(offsetBytes, lengthBytes, OptionalInt.of(node));
    }

    /** Its location, by which devices are selected. */
    public Location location() {
        return node.isPresent() ? new Location.Cpu(node.getAsInt()) : Location.ANY;
    }
}
