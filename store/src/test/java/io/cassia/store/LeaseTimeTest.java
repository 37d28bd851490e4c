package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.master.Master;
import io.cassia.master.MasterConfig;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A reader's clock against the master's, in time that the test makes. */
class LeaseTimeTest {
    private static final Duration LEASE = Duration.ofSeconds(50);
    private static final ByteString KEY = ByteString.of("k");
    private static final int BYTES = 100_000;

    private final AtomicLong nanos = new AtomicLong();

    /** Shows the test's time, gaining or losing so many microseconds a second. */
    private record Drifting(AtomicLong time, long ppm) implements Clock {
        @Override
        public long nanos() {
            return time.get() + time.get() / 1_000_000 * ppm;
        }

        @Override
        public long epochMillis() {
            return 1_800_000_000_000L + time.get() / 1_000_000;
        }
    }

    private interface Work {
        void run(StoreClient client, ReadSession session, MemorySegment into);
    }

    /** The reader has taken its lease just now. */
    private void withReader(long ppm, Work work) {
        MasterConfig config =
                MasterConfig.builder()
                        .rpc("127.0.0.1", 0)
                        .httpOff()
                        .defaultLeaseTtl(LEASE)
                        // Else the node would be given up as time jumps.
                        .clientTtl(Duration.ofHours(1))
                        .build();
        try (Master master =
                        Master.start(
                                        config,
                                        new Drifting(nanos, 0),
                                        new SimpleMeterRegistry(),
                                        () -> "")
                                .orThrow();
                Arena arena = Arena.ofShared()) {
            String address = "127.0.0.1:" + master.rpcPort();
            try (StorageNode node =
                            StorageNode.start(
                                            new NodeConfig(
                                                    address,
                                                    StoreClientConfig.P2P,
                                                    "127.0.0.1",
                                                    16 << 20),
                                            Clock.system(),
                                            new SimpleMeterRegistry())
                                    .orThrow();
                    StoreClient client =
                            StoreClient.connect(
                                            StoreClientConfig.of(address),
                                            new Drifting(nanos, ppm),
                                            new SimpleMeterRegistry())
                                    .orThrow()) {
                assertThat(node.segments()).hasSize(1);
                client.put(KEY, arena.allocate(BYTES), PutOptions.DEFAULT).orThrow();
                try (ReadSession session = client.openRead(List.of(KEY)).orThrow()) {
                    work.run(client, session, arena.allocate(BYTES));
                }
            }
        }
    }

    private static Outcome<Long> read(ReadSession session, MemorySegment into) {
        return session.read(List.of(new RangeRead(KEY, 0, into))).getFirst();
    }

    private static void assertExpired(Outcome<Long> read) {
        assertThat(read).isInstanceOf(Outcome.Failed.class);
        assertThat(((Outcome.Failed<Long>) read).code()).isEqualTo(StoreCode.LEASE_EXPIRED);
    }

    @Test
    void reader_stops_a_hundredth_before_the_master() {
        withReader(
                0,
                (client, session, into) -> {
                    nanos.set(LEASE.toNanos() / 100 * 99 - 1);
                    assertThat(read(session, into)).isEqualTo(Outcome.ok((long) BYTES));
                    nanos.set(LEASE.toNanos() / 100 * 99);
                    assertExpired(read(session, into));
                    // The master has not ended it yet.
                    assertThat(client.remove(KEY, false)).isNotEqualTo(Outcome.done());
                });
    }

    @Test
    void slow_clock_of_a_reader_does_not_make_a_lease_longer() {
        withReader(
                -5000,
                (client, session, into) -> {
                    nanos.set(LEASE.toNanos());
                    assertThat(client.remove(KEY, false)).isEqualTo(Outcome.done());
                    assertExpired(read(session, into));
                });
    }
}
