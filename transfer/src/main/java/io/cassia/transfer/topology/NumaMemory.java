package io.cassia.transfer.topology;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * Where memory lies among the NUMA nodes, and how memory and threads are put there (spec 8.4).
 * Immutable.
 *
 * <p>Every call answers ERR_NUMA where the kernel does not support it or does not allow it; the
 * host then behaves as one node, and the caller may go on without.
 */
public final class NumaMemory {
    /** Smallest step of a probe: a page. */
    public static final int PAGE_BYTES = 4096;

    private static final int BATCH = 8192;

    private final NumaCalls calls;

    NumaMemory(NumaCalls calls) {
        this.calls = calls;
    }

    /** That of this machine. */
    public static NumaMemory system() {
        return new NumaMemory(new LinuxNumaCalls());
    }

    /**
     * The runs of a range that lie on one node each, in order and without gaps. Nothing is touched:
     * pages that were never written lie nowhere yet.
     *
     * @param memory native memory
     * @param stepBytes distance of the probes, a multiple of {@link #PAGE_BYTES}: a huge page for
     *     memory of huge pages
     */
    public Outcome<List<NodeRange>> locate(MemorySegment memory, long stepBytes) {
        requireNative(memory);
        if (stepBytes < PAGE_BYTES || stepBytes % PAGE_BYTES != 0) {
            throw new IllegalArgumentException("step of " + stepBytes + " bytes");
        }
        List<NodeRange> runs = new ArrayList<>();
        long offset = 0;
        while (offset < memory.byteSize()) {
            Outcome<Long> end = locate(memory, offset, stepBytes, runs);
            if (end instanceof Outcome.Failed<Long> failed) {
                return failed.as();
            }
            offset = end.orThrow();
        }
        return Outcome.ok(List.copyOf(runs));
    }

    /** Probes one batch and returns the offset of the next. */
    private Outcome<Long> locate(
            MemorySegment memory, long from, long stepBytes, List<NodeRange> runs) {
        long start = memory.address() - Long.remainderUnsigned(memory.address(), stepBytes);
        long end = memory.address() + memory.byteSize();
        long first = from == 0 ? start : memory.address() + from;
        int count = (int) Math.min(BATCH, Math.ceilDiv(end - first, stepBytes));
        long[] pages = new long[count];
        for (int i = 0; i < count; i++) {
            pages[i] = first + i * stepBytes;
        }
        int[] nodes = new int[count];
        long result = calls.nodesOf(pages, nodes);
        if (result < 0) {
            return numa("asking for the nodes of " + range(memory), result);
        }
        for (int i = 0; i < count; i++) {
            long offset = Math.max(0, pages[i] - memory.address());
            long next = Math.min(memory.byteSize(), pages[i] + stepBytes - memory.address());
            OptionalInt node = nodes[i] < 0 ? OptionalInt.empty() : OptionalInt.of(nodes[i]);
            append(runs, new NodeRange(offset, next - offset, node));
        }
        return Outcome.ok(first + count * stepBytes - memory.address());
    }

    private static void append(List<NodeRange> runs, NodeRange next) {
        if (!runs.isEmpty() && runs.getLast().node().equals(next.node())) {
            NodeRange last = runs.removeLast();
            runs.add(
                    new NodeRange(
                            last.offsetBytes(),
                            last.lengthBytes() + next.lengthBytes(),
                            last.node()));
        } else {
            runs.add(next);
        }
    }

    /** The node of a range's first byte; a page that lay nowhere is put somewhere by this. */
    public Outcome<Integer> nodeOf(MemorySegment memory) {
        requireNative(memory);
        long node = calls.nodeOf(memory.address());
        return node < 0
                ? numa("asking for the node of " + range(memory), node)
                : Outcome.ok((int) node);
    }

    /**
     * Puts memory where a location says, and moves the pages that lie elsewhere. A wildcard changes
     * nothing. ERR_INVALID_ARGUMENT for an accelerator, and for memory that does not start at a
     * page: the kernel places whole pages.
     */
    public Outcome<Done> place(MemorySegment memory, Location location) {
        requireNative(memory);
        return switch (location) {
            case Location.Any() -> Outcome.done();
            case Location.Cpu(int node) ->
                    bind(memory, List.of(NodeRange.on(0, memory.byteSize(), node)));
            case Location.Pieces pieces -> bind(memory, pieces.ranges(memory.byteSize()));
            case Location.Device device ->
                    Outcome.failed(
                            TransferCode.ERR_INVALID_ARGUMENT,
                            range(memory) + " is host memory and cannot be put on " + device);
        };
    }

    private Outcome<Done> bind(MemorySegment memory, List<NodeRange> ranges) {
        for (NodeRange part : ranges) {
            long address = memory.address() + part.offsetBytes();
            int node = part.node().orElseThrow();
            if (address % PAGE_BYTES != 0) {
                return Outcome.failed(
                        TransferCode.ERR_INVALID_ARGUMENT,
                        "%s does not start at a page of %d bytes"
                                .formatted(range(memory), PAGE_BYTES));
            }
            long result = calls.bind(address, part.lengthBytes(), node);
            if (result < 0) {
                return numa("putting %s on node %d".formatted(range(memory), node), result);
            }
        }
        return Outcome.done();
    }

    /**
     * Makes the calling platform thread run on a node's CPUs, and allocate there while the node has
     * memory left. ERR_NUMA also for a node without CPUs. The thread keeps this to its end.
     */
    public Outcome<Done> bindThread(NumaNode node) {
        if (Thread.currentThread().isVirtual()) {
            throw new IllegalStateException(
                    "a virtual thread has no CPU of its own; bind a platform thread");
        }
        if (node.cpus().ids().isEmpty()) {
            return Outcome.failed(
                    TransferCode.ERR_NUMA, "NUMA node %d has no CPUs".formatted(node.id()));
        }
        long result = calls.runOn(node.cpus());
        if (result < 0) {
            return numa(
                    "binding a thread to CPUs %s of node %d".formatted(node.cpus(), node.id()),
                    result);
        }
        result = calls.prefer(node.id());
        return result < 0 ? numa("preferring memory of node " + node.id(), result) : Outcome.done();
    }

    private static void requireNative(MemorySegment memory) {
        if (!memory.isNative() || memory.byteSize() == 0) {
            throw new IllegalArgumentException("not native memory, or empty: " + memory);
        }
    }

    private static String range(MemorySegment memory) {
        return "memory at 0x%x of %d bytes".formatted(memory.address(), memory.byteSize());
    }

    private static <T> Outcome<T> numa(String attempted, long result) {
        return Outcome.failed(TransferCode.ERR_NUMA, attempted + ": " + Errno.text((int) -result));
    }
}
