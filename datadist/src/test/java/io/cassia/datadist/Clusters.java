package io.cassia.datadist;

import io.cassia.base.Clock;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.link.ClusterInfo;
import io.cassia.datadist.link.LlmRole;
import io.cassia.datadist.memory.EnginePlane;
import io.cassia.datadist.memory.PoolConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** Confined to one test. Makes instances on loopback and closes them at the end. */
public final class Clusters implements AutoCloseable {
    public static final Duration LONG = Duration.ofSeconds(5);

    private final List<LlmDataDist> open = new ArrayList<>();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

    public SimpleMeterRegistry meters() {
        return meters;
    }

    public LlmDataDist prompt(long id) {
        return start(id, LlmRole.PROMPT, EnginePlane::start, o -> o.listen("127.0.0.1", 0));
    }

    public LlmDataDist decoder(long id) {
        return start(id, LlmRole.DECODER, EnginePlane::start, o -> o);
    }

    public LlmDataDist start(
            long id, LlmRole role, UnaryOperator<DataDistOptions.Builder> options) {
        return start(id, role, EnginePlane::start, options);
    }

    public LlmDataDist start(
            long id,
            LlmRole role,
            PlaneFactory planes,
            UnaryOperator<DataDistOptions.Builder> options) {
        LlmDataDist made = new LlmDataDist(id, role, planes, Clock.system(), meters);
        PoolConfig pool = PoolConfig.ofBytes(4 << 20).orThrow();
        DataDistOptions built =
                options.apply(
                                DataDistOptions.builder()
                                        .dataHost("127.0.0.1")
                                        .syncTimeout(LONG)
                                        .devicePool(pool)
                                        .hostPool(pool))
                        .build();
        Expect.ok(made.initialize(built));
        open.add(made);
        return made;
    }

    /** Where a listening instance can be linked. */
    public static ClusterInfo at(LlmDataDist listening) {
        return ClusterInfo.of(
                listening.clusterId(), "127.0.0.1", listening.listenAddress().orElseThrow().port());
    }

    public static void link(LlmDataDist from, LlmDataDist to) {
        Expect.ok(from.linkClusters(List.of(at(to)), LONG).overall());
    }

    /** Every byte of every tensor from a seed, so that any mix-up shows. */
    public static void fill(Cache cache, int seed) {
        for (int t = 0; t < cache.tensors().size(); t++) {
            MemorySegment tensor = cache.tensors().get(t);
            for (long i = 0; i < tensor.byteSize(); i++) {
                tensor.set(ValueLayout.JAVA_BYTE, i, pattern(seed, t, i));
            }
        }
    }

    public static byte pattern(int seed, int tensor, long offset) {
        long x = (seed * 31L + tensor) * 0x9E3779B97F4A7C15L + offset * 0xBF58476D1CE4E5B9L;
        return (byte) (x >>> 56);
    }

    /** A port that was free a moment ago, for options that take no 0. */
    public static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    /** Waits for what another thread or the network is about to do; polls with a deadline. */
    public static boolean eventually(BooleanSupplier condition) {
        long end = System.nanoTime() + LONG.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                return false;
            }
            Thread.onSpinWait();
            LockSupport.parkNanos(1_000_000);
        }
        return true;
    }

    @Override
    public void close() {
        open.forEach(LlmDataDist::close);
    }
}
