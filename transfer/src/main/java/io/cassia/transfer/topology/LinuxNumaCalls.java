package io.cassia.transfer.topology;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/**
 * Linux's NUMA calls, made directly: libnuma is not needed. Immutable.
 *
 * <p>Numbers of the calls differ between processors; on one that is not listed every call answers
 * ENOSYS.
 */
final class LinuxNumaCalls implements NumaCalls {
    private static final int PREFERRED = 1;
    private static final int BIND = 2;
    private static final long MOVE = 2;
    private static final long NODE_OF_ADDRESS = 1 | 2;
    private static final int MASK_BITS = 1024;
    private static final int MAX_CPUS = 8192;

    /** The kernel does not look at the last bit it is told of. */
    private static final long MASK_LIMIT = MASK_BITS + 1L;

    private static final VarHandle ERRNO =
            Linker.Option.captureStateLayout()
                    .varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private record Numbers(long bind, long node, long prefer, long nodes, long affinity) {}

    private final Optional<Numbers> numbers;
    private final MethodHandle syscall;

    LinuxNumaCalls() {
        this.numbers = numbers(System.getProperty("os.name"), System.getProperty("os.arch"));
        ValueLayout.OfLong word = ValueLayout.JAVA_LONG;
        this.syscall =
                Linker.nativeLinker()
                        .downcallHandle(
                                Linker.nativeLinker().defaultLookup().findOrThrow("syscall"),
                                FunctionDescriptor.of(
                                        word, word, word, word, word, word, word, word),
                                Linker.Option.firstVariadicArg(1),
                                Linker.Option.captureCallState("errno"));
    }

    private static Optional<Numbers> numbers(String system, String processor) {
        if (!system.toLowerCase(Locale.ROOT).equals("linux")) {
            return Optional.empty();
        }
        return switch (processor) {
            case "amd64" -> Optional.of(new Numbers(237, 239, 238, 279, 203));
            case "aarch64" -> Optional.of(new Numbers(235, 236, 237, 239, 122));
            default -> Optional.empty();
        };
    }

    @Override
    public long nodesOf(long[] pages, int[] nodes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment addresses = arena.allocateFrom(ValueLayout.JAVA_LONG, pages);
            MemorySegment status = arena.allocate(ValueLayout.JAVA_INT, pages.length);
            // Without target nodes the call moves nothing and tells where the pages are.
            long result =
                    numbers.isEmpty()
                            ? -Errno.ENOSYS
                            : call(
                                    arena,
                                    numbers.get().nodes(),
                                    0,
                                    pages.length,
                                    addresses.address(),
                                    0,
                                    status.address(),
                                    0);
            MemorySegment.copy(status, ValueLayout.JAVA_INT, 0, nodes, 0, pages.length);
            return result;
        }
    }

    @Override
    public long nodeOf(long address) {
        if (numbers.isEmpty()) {
            return -Errno.ENOSYS;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment node = arena.allocate(ValueLayout.JAVA_INT);
            long result =
                    call(
                            arena,
                            numbers.get().node(),
                            node.address(),
                            0,
                            0,
                            address,
                            NODE_OF_ADDRESS,
                            0);
            return result < 0 ? result : node.get(ValueLayout.JAVA_INT, 0);
        }
    }

    @Override
    public long bind(long address, long lengthBytes, int node) {
        if (numbers.isEmpty()) {
            return -Errno.ENOSYS;
        }
        if (node >= MASK_BITS) {
            return -Errno.EINVAL;
        }
        try (Arena arena = Arena.ofConfined()) {
            long mask = mask(arena, MASK_BITS, node).address();
            return call(
                    arena,
                    numbers.get().bind(),
                    address,
                    lengthBytes,
                    BIND,
                    mask,
                    MASK_LIMIT,
                    MOVE);
        }
    }

    @Override
    public long prefer(int node) {
        if (numbers.isEmpty()) {
            return -Errno.ENOSYS;
        }
        if (node >= MASK_BITS) {
            return -Errno.EINVAL;
        }
        try (Arena arena = Arena.ofConfined()) {
            long mask = mask(arena, MASK_BITS, node).address();
            return call(arena, numbers.get().prefer(), PREFERRED, mask, MASK_LIMIT, 0, 0, 0);
        }
    }

    @Override
    public long runOn(CpuSet cpus) {
        if (numbers.isEmpty()) {
            return -Errno.ENOSYS;
        }
        int[] ids = cpus.ids().stream().mapToInt(Integer::intValue).toArray();
        if (ids.length == 0 || ids[ids.length - 1] >= MAX_CPUS) {
            return -Errno.EINVAL;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = mask(arena, MAX_CPUS, ids);
            long bytes = mask.byteSize();
            return call(arena, numbers.get().affinity(), 0, bytes, mask.address(), 0, 0, 0);
        }
    }

    private static MemorySegment mask(Arena arena, int bits, int... set) {
        long[] words = new long[bits / Long.SIZE];
        Arrays.stream(set).forEach(bit -> words[bit / Long.SIZE] |= 1L << (bit % Long.SIZE));
        return arena.allocateFrom(ValueLayout.JAVA_LONG, words);
    }

    private long call(Arena arena, long number, long a, long b, long c, long d, long e, long f) {
        MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
        try {
            long result = (long) syscall.invokeExact(state, number, a, b, c, d, e, f);
            return result < 0 ? -(int) ERRNO.get(state, 0L) : result;
        } catch (Throwable t) {
            throw new IllegalStateException("system calls cannot be made", t);
        }
    }
}
