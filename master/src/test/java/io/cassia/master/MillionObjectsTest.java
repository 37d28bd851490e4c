package io.cassia.master;

import static io.cassia.master.TestMaster.A;
import static io.cassia.master.TestMaster.B;
import static io.cassia.master.TestMaster.MIB;
import static io.cassia.master.TestMaster.segment;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.RpcClient;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.ListKeys;
import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.status.Done;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A master with very many objects does all that it does with few; what that costs the heap, and
 * others who call meanwhile, is printed. That no step is long is asserted where steps are made, in
 * the tests of the core.
 */
@Tag("deep")
class MillionObjectsTest {
    private static final ByteString TENANT = ByteString.of("default");
    private static final int MILLION = 1_000_000;

    private static long usedHeap() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }

    private static void until(BooleanSupplier condition) {
        long end = System.nanoTime() + 120_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.onSpinWait();
        }
    }

    private static long objects(TestMaster master) {
        return master.ok(CassiaMethods.STATS, Done.DONE).objects();
    }

    @Test
    void a_million_objects_are_put_asked_for_listed_evicted_and_removed() {
        MasterConfig.Builder config =
                TestMaster.config()
                        .defaultLeaseTtl(Duration.ofMillis(1))
                        .maxMetadataBytes(Long.MAX_VALUE / 4);
        try (TestMaster master = TestMaster.start(config)) {
            // Room for exactly so many of 16 bytes.
            master.mount(A, segment(11, "node-a:1", 16L * MILLION));
            master.putMany("warm-", 0, 1000, 16);
            master.call(MasterMethods.REMOVE_ALL, new Args.RemoveAll(true, TENANT));
            long before = usedHeap();
            report("put", MILLION, () -> master.putMany("key-", 0, MILLION, 16));
            long perObject = (usedHeap() - before) / MILLION;
            System.out.printf("%d bytes of heap per object, its key of 10 included%n", perObject);
            assertThat(objects(master)).isEqualTo(MILLION);
            assertThat(perObject).isLessThan(200 + 32);
            report("exist", MILLION, () -> assertThat(existing(master, "key-")).isEqualTo(MILLION));
            report("list", MILLION, () -> assertThat(listed(master)).isEqualTo(MILLION));
            report("evict", 100_000, () -> master.putMany("new-", 0, 100_000, 16));
            assertThat(objects(master)).isEqualTo(MILLION);
            report(
                    "remove all",
                    MILLION,
                    () ->
                            assertThat(
                                            master.call(
                                                    MasterMethods.REMOVE_ALL,
                                                    new Args.RemoveAll(true, TENANT)))
                                    .isEqualTo(MILLION));
            assertThat(objects(master)).isZero();
            // What is left is the tables, which do not shrink, and no object.
            master.putMany("key-", 0, MILLION, 16);
            long again = (usedHeap() - before) / MILLION;
            System.out.printf("%d bytes of heap per object the second time%n", again);
            assertThat(again).isLessThan(perObject + 16);
        }
    }

    private static void report(String what, int count, Runnable work) {
        long start = System.nanoTime();
        work.run();
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.printf(
                "%-10s %,9d objects in %.2f s, %,.0f/s%n", what, count, seconds, count / seconds);
    }

    private static long existing(TestMaster master, String prefix) {
        long found = 0;
        for (int at = 0; at < MILLION; at += 1000) {
            List<ByteString> keys = new ArrayList<>();
            for (int i = at; i < at + 1000; i++) {
                keys.add(ByteString.of(prefix + i));
            }
            found +=
                    master.call(MasterMethods.BATCH_EXIST_KEY, new Args.Keys(keys, TENANT)).stream()
                            .filter(one -> one.orThrow())
                            .count();
        }
        return found;
    }

    /** A page by prefix, and then all keys as an operator gets them. */
    private static long listed(TestMaster master) {
        List<KeyInfo> page =
                master.ok(
                        CassiaMethods.LIST_KEYS,
                        new ListKeys(ByteString.of("key-12345"), ByteString.EMPTY, 1000, TENANT));
        assertThat(page).hasSize(11);
        try {
            return master.get("/get_all_keys").body().lines().count();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Asks all the time, and remembers how long the answers took. Confined to its thread. */
    private static final class Prober {
        private final AtomicBoolean running = new AtomicBoolean(true);
        private final Thread thread;
        private long[] times = new long[1 << 16];
        private int count;

        Prober(TestMaster master) {
            thread = Thread.ofPlatform().start(() -> run(master));
        }

        private void run(TestMaster master) {
            try (RpcClient own =
                    RpcClient.builder(
                                    "127.0.0.1",
                                    master.master().rpcPort(),
                                    new SimpleMeterRegistry())
                            .build()) {
                Args.Key key = new Args.Key(ByteString.of("kept-1"), TENANT);
                while (running.get()) {
                    long start = System.nanoTime();
                    boolean there =
                            own.callExpected(MasterMethods.EXIST_KEY, key, Duration.ofSeconds(30))
                                    .orThrow();
                    assertThat(there).isTrue();
                    if (count == times.length) {
                        times = Arrays.copyOf(times, 2 * count);
                    }
                    times[count++] = System.nanoTime() - start;
                }
            }
        }

        void tell(String during) {
            Arrays.sort(times, 0, count);
            System.out.printf(
                    "%s: others called %,d times, p50 %.0f us, p99.9 %.1f ms, longest %.1f ms%n",
                    during,
                    count,
                    times[count / 2] / 1e3,
                    times[(int) (count * 0.999)] / 1e6,
                    times[count - 1] / 1e6);
        }

        void stop() throws InterruptedException {
            running.set(false);
            thread.join();
        }
    }

    @Test
    void others_are_served_while_a_node_with_200_000_objects_expires() throws Exception {
        MasterConfig.Builder config =
                TestMaster.config()
                        .clientTtl(Duration.ofSeconds(3))
                        .clientWipe(Duration.ofSeconds(3));
        try (TestMaster master = TestMaster.start(config)) {
            master.mount(A, segment(11, "node-a:1", 200_000 * 16L));
            master.putMany("lost-", 0, 200_000, 16);
            AtomicBoolean pinging = new AtomicBoolean(true);
            master.mount(B, segment(12, "node-b:1", MIB));
            Thread pinger =
                    Thread.ofPlatform()
                            .start(
                                    () -> {
                                        while (pinging.get()) {
                                            master.ok(MasterMethods.PING, B);
                                            LockSupport.parkNanos(100_000_000);
                                        }
                                    });
            master.putMany("kept-", 0, 100, 16);
            Prober prober = new Prober(master);
            until(() -> objects(master) <= 100);
            prober.stop();
            prober.tell("expiry of 200,000 objects");
            pinging.set(false);
            pinger.join();
        }
    }

    @Test
    void others_are_served_while_an_expression_runs_over_a_million_keys() throws Exception {
        MasterConfig.Builder config = TestMaster.config().maxMetadataBytes(Long.MAX_VALUE / 4);
        try (TestMaster master = TestMaster.start(config)) {
            master.mount(A, segment(11, "node-a:1", 16L * (MILLION + 100)));
            master.putMany("kept-", 0, 100, 16);
            master.putMany("key-", 0, MILLION, 16);
            Prober prober = new Prober(master);
            long removed =
                    master.ok(
                            MasterMethods.REMOVE_BY_REGEX,
                            new Args.Remove(ByteString.of("^key-[0-9]*7$"), true, TENANT));
            prober.stop();
            prober.tell("an expression over 1,000,000 keys");
            assertThat(removed).isEqualTo(MILLION / 10);
        }
    }
}
