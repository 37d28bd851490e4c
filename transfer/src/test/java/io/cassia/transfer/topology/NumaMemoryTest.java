package io.cassia.transfer.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongToIntFunction;
import java.util.function.Supplier;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NumaMemoryTest {
    private static final int PAGE = NumaMemory.PAGE_BYTES;
    private static final long BASE = 0x7000_0000_0000L;

    /** A kernel in which the page number decides the node. */
    private static final class FakeCalls implements NumaCalls {
        final List<String> log = new ArrayList<>();
        LongToIntFunction nodes = page -> 0;
        long result;
        int probes;

        @Override
        public long nodesOf(long[] pages, int[] found) {
            probes++;
            for (int i = 0; i < pages.length; i++) {
                assertThat(pages[i] % PAGE).isZero();
                found[i] = nodes.applyAsInt((pages[i] - BASE) / PAGE);
            }
            return result;
        }

        @Override
        public long nodeOf(long address) {
            return result < 0 ? result : nodes.applyAsInt((address - BASE) / PAGE);
        }

        @Override
        public long bind(long address, long lengthBytes, int node) {
            log.add("bind %d+%d node %d".formatted(address - BASE, lengthBytes, node));
            return result;
        }

        @Override
        public long prefer(int node) {
            log.add("prefer " + node);
            return result;
        }

        @Override
        public long runOn(CpuSet cpus) {
            log.add("run on " + cpus);
            return result;
        }
    }

    private final FakeCalls calls = new FakeCalls();
    private final NumaMemory numa = new NumaMemory(calls);

    private static MemorySegment memory(long offset, long length) {
        return MemorySegment.ofAddress(BASE + offset).reinterpret(length);
    }

    @Test
    void pages_of_one_node_make_one_range() {
        calls.nodes = page -> page < 3 ? 1 : page < 5 ? -Errno.ENOENT : 0;
        assertThat(numa.locate(memory(0, 7L * PAGE), PAGE))
                .isEqualTo(
                        Outcome.ok(
                                List.of(
                                        NodeRange.on(0, 3L * PAGE, 1),
                                        new NodeRange(3L * PAGE, 2L * PAGE, OptionalInt.empty()),
                                        NodeRange.on(5L * PAGE, 2L * PAGE, 0))));
        assertThat(NodeRange.on(0, 1, 3).location()).hasToString("cpu:3");
        assertThat(new NodeRange(0, 1, OptionalInt.empty()).location()).hasToString("*");
    }

    @Test
    void ranges_start_and_end_inside_pages() {
        calls.nodes = page -> (int) (page % 2);
        assertThat(numa.locate(memory(PAGE - 10, PAGE + 30), PAGE))
                .isEqualTo(
                        Outcome.ok(
                                List.of(
                                        NodeRange.on(0, 10, 0),
                                        NodeRange.on(10, PAGE, 1),
                                        NodeRange.on(10 + PAGE, 20, 0))));
    }

    @Test
    void long_ranges_are_probed_in_batches_without_gaps() {
        calls.nodes = page -> (int) (page / 10_000);
        long length = 25_000L * PAGE + 1;
        List<NodeRange> runs = numa.locate(memory(5, length), PAGE).orThrow();
        assertThat(runs)
                .containsExactly(
                        NodeRange.on(0, 10_000L * PAGE - 5, 0),
                        NodeRange.on(10_000L * PAGE - 5, 10_000L * PAGE, 1),
                        NodeRange.on(20_000L * PAGE - 5, length - 20_000L * PAGE + 5, 2));
        assertThat(calls.probes).isEqualTo(4);
    }

    @Test
    void a_step_of_a_huge_page_probes_its_first_page() {
        calls.nodes = page -> page % 512 == 0 ? (int) (page / 512) : 99;
        assertThat(numa.locate(memory(PAGE, 2L << 20), 2 << 20))
                .isEqualTo(
                        Outcome.ok(
                                List.of(
                                        NodeRange.on(0, (2 << 20) - PAGE, 0),
                                        NodeRange.on((2 << 20) - PAGE, PAGE, 1))));
    }

    @Test
    void memory_is_put_on_its_node_or_piece_by_piece() {
        assertThat(numa.place(memory(0, 10L * PAGE), new Location.Cpu(1)).isOk()).isTrue();
        Location pieces = Location.parse("segments:4096:0,1,0").orThrow();
        assertThat(numa.place(memory(0, 10L * PAGE), pieces).isOk()).isTrue();
        assertThat(numa.place(memory(0, 10L * PAGE), Location.ANY).isOk()).isTrue();
        assertThat(calls.log)
                .containsExactly(
                        "bind 0+40960 node 1",
                        "bind 0+12288 node 0",
                        "bind 12288+12288 node 1",
                        "bind 24576+16384 node 0");
    }

    @Test
    void a_thread_runs_on_the_cpus_and_prefers_the_memory_of_a_node() {
        NumaNode node = new NumaNode(3, new CpuSet(List.of(4, 5, 6)), 1, 1, List.of());
        assertThat(numa.bindThread(node).isOk()).isTrue();
        assertThat(calls.log).containsExactly("run on 4-6", "prefer 3");
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.ENOSYS, Errno.EPERM, Errno.EINVAL})
    void a_kernel_that_cannot_is_err_numa_with_the_reason(int errno) {
        calls.result = -errno;
        NumaNode node = new NumaNode(0, new CpuSet(List.of(0)), 1, 1, List.of());
        List<Supplier<Outcome<?>>> attempts =
                List.of(
                        () -> numa.locate(memory(0, PAGE), PAGE),
                        () -> numa.nodeOf(memory(0, PAGE)),
                        () -> numa.place(memory(0, PAGE), new Location.Cpu(0)),
                        () -> numa.bindThread(node));
        for (Supplier<Outcome<?>> attempt : attempts) {
            assertThat(attempt.get())
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed -> {
                                assertThat(failed.code()).isEqualTo(TransferCode.ERR_NUMA);
                                assertThat(failed.detail()).contains("errno " + errno);
                            });
        }
    }

    @Test
    void a_node_without_cpus_cannot_run_a_thread() {
        NumaNode node = new NumaNode(2, CpuSet.EMPTY, 1, 1, List.of());
        assertThat(numa.bindThread(node))
                .isEqualTo(Outcome.failed(TransferCode.ERR_NUMA, "NUMA node 2 has no CPUs"));
    }

    @Test
    void memory_that_cannot_be_placed_is_an_invalid_argument() {
        for (Outcome<Done> outcome :
                List.of(
                        numa.place(memory(0, PAGE), new Location.Device("cuda", 0)),
                        numa.place(memory(8, PAGE), new Location.Cpu(0)))) {
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed ->
                                    assertThat(failed.code())
                                            .isEqualTo(TransferCode.ERR_INVALID_ARGUMENT));
        }
        assertThatThrownBy(() -> numa.locate(MemorySegment.ofArray(new byte[8]), PAGE))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> numa.locate(memory(0, PAGE), 1000))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void this_kernel_tells_where_touched_memory_lies() {
        NumaMemory system = NumaMemory.system();
        NumaNode node = HostProbe.system().discover().numaNodes().getFirst();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(16L * PAGE, PAGE);
            memory.fill((byte) 1);
            Outcome<Integer> owner = system.nodeOf(memory);
            Assumptions.assumeTrue(owner.isOk(), "no NUMA calls here: " + owner);
            List<NodeRange> runs = system.locate(memory, PAGE).orThrow();
            assertThat(runs.stream().mapToLong(NodeRange::lengthBytes).sum()).isEqualTo(16L * PAGE);
            assertThat(runs).allMatch(run -> run.node().isPresent());
            assertThat(system.place(memory, new Location.Cpu(node.id())).isOk()).isTrue();
            assertThat(system.locate(memory, PAGE))
                    .isEqualTo(Outcome.ok(List.of(NodeRange.on(0, 16L * PAGE, node.id()))));
            assertThat(memory.get(ValueLayout.JAVA_BYTE, 5 * PAGE)).isEqualTo((byte) 1);
        }
    }

    @Test
    void this_kernel_refuses_a_node_that_is_not_there() {
        NumaMemory system = NumaMemory.system();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(PAGE, PAGE);
            assertThat(system.place(memory, new Location.Cpu(900)))
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed -> assertThat(failed.code()).isEqualTo(TransferCode.ERR_NUMA));
        }
    }

    @Test
    void this_kernel_binds_a_thread() throws InterruptedException {
        NumaMemory system = NumaMemory.system();
        NumaNode node = HostProbe.system().discover().numaNodes().getFirst();
        AtomicReference<Outcome<Done>> outcome = new AtomicReference<>(Outcome.done());
        AtomicReference<Throwable> virtual = new AtomicReference<>();
        Thread bound = Thread.ofPlatform().start(() -> outcome.set(system.bindThread(node)));
        bound.join();
        Thread.ofVirtual()
                .start(
                        () -> {
                            try {
                                outcome.set(system.bindThread(node));
                            } catch (IllegalStateException e) {
                                virtual.set(e);
                            }
                        })
                .join();
        if (outcome.get() instanceof Outcome.Failed<Done>(var code, var _)) {
            assertThat(code).isEqualTo(TransferCode.ERR_NUMA);
        }
        assertThat(virtual.get()).hasMessageContaining("platform thread");
    }
}
