package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transport;
import java.lang.foreign.MemorySegment;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What transfers cost in memory beside the memory that they move: nothing that grows. */
final class MemoryUseTest {
    private static final int LARGE = 16 << 20;
    private static final int SMALL = 64;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Two engines of this process and the memory that they offer. Confined to its test. */
    private record Pair(
            TransferEngine target,
            TransferEngine engine,
            SegmentHandle handle,
            RegisteredBuffer there,
            MemorySegment here)
            implements AutoCloseable {
        static Pair of(Transport transport, int bytes) {
            TransferConfig config =
                    TransferConfig.p2p("127.0.0.1").withTransports(Set.of(transport));
            TransferEngine target = Peers.engine(config);
            TransferEngine engine = Peers.engine(config);
            RegisteredBuffer there =
                    target.register(
                                    target.allocate(bytes).orThrow().memory(),
                                    BufferOptions.DEFAULT)
                            .orThrow();
            return new Pair(
                    target,
                    engine,
                    engine.openSegment(target.localName()).orThrow(),
                    there,
                    engine.allocate(bytes).orThrow().memory());
        }

        TransferRequest request(Opcode opcode, long length) {
            return new TransferRequest(opcode, here.asSlice(0, length), handle, there.address());
        }

        void move(List<TransferRequest> requests) {
            for (Outcome<?> outcome : engine.transfer(requests, Peers.DEADLINE)) {
                assertThat(outcome.isOk()).as("%s", outcome).isTrue();
            }
        }

        void moveInBackground(List<TransferRequest> requests) {
            try (Batch batch = engine.allocateBatch(requests.size()).orThrow()) {
                assertThat(batch.submit(requests).isOk()).isTrue();
                assertThat(batch.await(Peers.DEADLINE)).isTrue();
                assertThat(batch.status().state()).isEqualTo(TransferState.COMPLETED);
            }
        }

        @Override
        public void close() {
            engine.close();
            target.close();
        }
    }

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    @ParameterizedTest
    @EnumSource(names = {"LOCAL", "TCP"})
    void nothing_of_the_size_of_the_payload_is_allocated(Transport transport) {
        int rounds = 20;
        try (Pair pair = Pair.of(transport, LARGE)) {
            List<TransferRequest> both =
                    List.of(
                            pair.request(Opcode.READ, LARGE - 1),
                            pair.request(Opcode.WRITE, LARGE));
            pair.move(both);
            pair.moveInBackground(both);
            long heap = THREADS.getTotalThreadAllocatedBytes();
            long direct = directBytes();
            for (int i = 0; i < rounds; i++) {
                pair.move(both);
                pair.moveInBackground(both);
            }
            long allocated = THREADS.getTotalThreadAllocatedBytes() - heap;
            assertThat(allocated / (4L * rounds))
                    .as("bytes of heap per transfer of %d", LARGE)
                    .isLessThan(64 << 10);
            assertThat(directBytes() - direct).as("native bytes").isLessThan(1 << 20);
        }
    }

    /** What may not grow. Immutable. */
    private record Footprint(long heapBytes, long directBytes, long threads, long files) {
        static Footprint now() {
            // Twice: what the first one finds unreachable may hold more.
            System.gc();
            System.gc();
            return new Footprint(
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
                    MemoryUseTest.directBytes(),
                    THREADS.getThreadCount(),
                    ManagementFactory.getPlatformMXBean(UnixOperatingSystemMXBean.class)
                            .getOpenFileDescriptorCount());
        }
    }

    @Test
    void half_a_million_small_transfers_leave_nothing_behind() {
        leaveNothing(500_000);
    }

    @Test
    @Tag("deep")
    void ten_million_small_transfers_leave_nothing_behind() {
        leaveNothing(10_000_000);
    }

    private static void leaveNothing(int transfers) {
        int batch = 250;
        try (Pair pair = Pair.of(Transport.TCP, SMALL)) {
            List<TransferRequest> requests = new ArrayList<>();
            requests.addAll(Collections.nCopies(batch / 2, pair.request(Opcode.READ, SMALL)));
            requests.addAll(Collections.nCopies(batch / 2, pair.request(Opcode.WRITE, SMALL)));
            int calls = transfers / batch;
            run(pair, requests, calls / 5);
            Footprint early = Footprint.now();
            run(pair, requests, calls - calls / 5);
            Footprint late = Footprint.now();
            assertThat(late.heapBytes() - early.heapBytes())
                    .as("heap: %s, then %s", early, late)
                    .isLessThan(4 << 20);
            assertThat(late.directBytes() - early.directBytes())
                    .as("native: %s, then %s", early, late)
                    .isLessThan(1 << 20);
            assertThat(late.threads() - early.threads())
                    .as("threads: %s, then %s", early, late)
                    .isLessThanOrEqualTo(4);
            assertThat(late.files() - early.files())
                    .as("descriptors: %s, then %s", early, late)
                    .isLessThanOrEqualTo(4);
        }
    }

    private static void run(Pair pair, List<TransferRequest> requests, int calls) {
        for (int i = 0; i < calls; i++) {
            if (i % 8 == 0) {
                pair.moveInBackground(requests);
            } else {
                pair.move(requests);
            }
        }
    }
}
