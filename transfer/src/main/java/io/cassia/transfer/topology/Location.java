package io.cassia.transfer.topology;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Where memory lies, in the words of the protocol (spec 1). Immutable.
 *
 * <pre>
 *   *                        wherever the kernel put it: the engine looks
 *   cpu:0                    NUMA node 0
 *   cuda:0, npu:1, musa:0    accelerator
 *   segments:4096:0,1,1      cut into equal pieces, one per listed NUMA node
 * </pre>
 */
public sealed interface Location {
    /** The name that stands for any location. */
    String WILDCARD = "*";

    /** Wherever the kernel put it. Immutable. */
    record Any() implements Location {
        @Override
        public String toString() {
            return WILDCARD;
        }
    }

    /**
     * Memory of one NUMA node. Immutable.
     *
     * @param node the node
     */
    record Cpu(int node) implements Location {
        static final String PREFIX = "cpu:";

        public Cpu {
            if (node < 0 || node > MAX_NUMBER) {
                throw new IllegalArgumentException("NUMA node " + node);
            }
        }

        @Override
        public String toString() {
            return PREFIX + node;
        }
    }

    /**
     * Memory of an accelerator. Immutable.
     *
     * @param kind {@code cuda}, {@code npu}, {@code musa}, ...
     * @param index number within its kind
     */
    record Device(String kind, int index) implements Location {
        public Device {
            if (!KIND.matcher(kind).matches() || index < 0 || index > MAX_NUMBER) {
                throw new IllegalArgumentException("accelerator " + kind + ":" + index);
            }
        }

        @Override
        public String toString() {
            return kind + ":" + index;
        }
    }

    /**
     * A range cut into equal pieces, of which the i-th lies on the i-th node. Immutable.
     *
     * @param pageBytes pieces are whole pages of so many bytes, a power of two
     * @param nodes at least one
     */
    record Pieces(long pageBytes, List<Integer> nodes) implements Location {
        static final String PREFIX = "segments:";
        private static final int MAX_NODES = 1024;

        public Pieces {
            nodes = List.copyOf(nodes);
            if (nodes.isEmpty()
                    || nodes.size() > MAX_NODES
                    || Long.bitCount(pageBytes) != 1
                    || pageBytes < 0
                    || nodes.stream().anyMatch(node -> node < 0 || node > MAX_NUMBER)) {
                throw new IllegalArgumentException("pieces of " + pageBytes + " on " + nodes);
            }
        }

        /** Length of all pieces but the last: rounded down to pages, but never less than one. */
        public long pieceBytes(long totalBytes) {
            long equal = totalBytes / nodes.size();
            return Math.max(pageBytes, equal - equal % pageBytes);
        }

        /** The node of a byte; what rounding left behind the last piece belongs to the last. */
        public int nodeAt(long offset, long totalBytes) {
            if (offset < 0 || offset >= totalBytes) {
                throw new IllegalArgumentException("offset " + offset + " of " + totalBytes);
            }
            long piece = Math.min(offset / pieceBytes(totalBytes), nodes.size() - 1);
            return nodes.get((int) piece);
        }

        /** The pieces of a range in order; fewer than nodes when it is short. */
        public List<NodeRange> ranges(long totalBytes) {
            long piece = pieceBytes(totalBytes);
            List<NodeRange> ranges = new ArrayList<>();
            long offset = 0;
            for (int i = 0; i < nodes.size() && offset < totalBytes; i++) {
                boolean last = i == nodes.size() - 1;
                long length = last ? totalBytes - offset : Math.min(piece, totalBytes - offset);
                ranges.add(NodeRange.on(offset, length, nodes.get(i)));
                offset += length;
            }
            return List.copyOf(ranges);
        }

        @Override
        public String toString() {
            return PREFIX
                    + pageBytes
                    + ":"
                    + nodes.stream().map(String::valueOf).collect(Collectors.joining(","));
        }
    }

    /** Highest number of a node or accelerator. */
    int MAX_NUMBER = 65_535;

    /** Form of an accelerator's kind. */
    Pattern KIND = Pattern.compile("(?!cpu$|segments$)[a-z][a-z0-9_]{0,31}");

    /** Wherever the kernel put it. */
    Location ANY = new Any();

    /** Reads a location; ERR_INVALID_ARGUMENT tells what a location looks like. */
    static Outcome<Location> parse(String text) {
        if (text.equals(WILDCARD)) {
            return Outcome.ok(ANY);
        }
        try {
            if (text.startsWith(Pieces.PREFIX)) {
                return Outcome.ok(pieces(text.substring(Pieces.PREFIX.length())));
            }
            Matcher named = Pattern.compile("([a-z0-9_]+):([0-9]{1,5})").matcher(text);
            if (named.matches()) {
                int number = Integer.parseInt(named.group(2));
                return Outcome.ok(
                        named.group(1).equals("cpu")
                                ? new Cpu(number)
                                : new Device(named.group(1), number));
            }
        } catch (IllegalArgumentException e) {
            return invalid(text, String.valueOf(e.getMessage()));
        }
        return invalid(text, "no known form");
    }

    private static Pieces pieces(String text) {
        int colon = text.indexOf(':');
        if (colon < 0) {
            throw new IllegalArgumentException("no node list after the page size");
        }
        List<Integer> nodes = new ArrayList<>();
        for (String node : text.substring(colon + 1).split(",", -1)) {
            nodes.add(Integer.parseInt(node));
        }
        return new Pieces(Long.parseLong(text.substring(0, colon)), nodes);
    }

    private static Outcome<Location> invalid(String text, String why) {
        return Outcome.failed(
                TransferCode.ERR_INVALID_ARGUMENT,
                "location \"%s\": %s; it is *, cpu:<node>, <accelerator>:<number> or"
                                .formatted(text, why)
                        + " segments:<page bytes>:<node>,<node>,...");
    }
}
