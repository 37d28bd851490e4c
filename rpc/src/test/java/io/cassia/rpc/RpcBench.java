package io.cassia.rpc;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;

/**
 * Requests per second over loopback, server and client in one process: {@code RpcBench [seconds]
 * [exist|replica]}. Figures are printed, not asserted.
 */
final class RpcBench {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int MAX_SAMPLES = 4_000_000;

    private final RpcClient client;
    private final RpcMethod<Args.Key, ?> method;
    private final Args.Key arguments =
            new Args.Key(
                    ByteString.of("model/llama-3-70b/layer-00/0123456789abcdef0123456789abcdef"),
                    ByteString.of("default"));
    private final double seconds;

    private RpcBench(RpcClient client, RpcMethod<Args.Key, ?> method, double seconds) {
        this.client = client;
        this.method = method;
        this.seconds = seconds;
    }

    public static void main(String[] args) throws Exception {
        double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 2;
        boolean replica = args.length > 1 && args[1].equals("replica");
        int platformThreads = args.length > 2 && args[2].equals("virtual") ? 0 : 256;
        SimpleMeterRegistry metrics = new SimpleMeterRegistry();
        Outcome<ReplicaList> found = Outcome.ok(oneReplica());
        try (RpcServer server =
                        RpcServer.builder(metrics)
                                .limits(ServerLimits.DEFAULT.withPlatformThreads(platformThreads))
                                .register(MasterMethods.EXIST_KEY, _ -> Outcome.ok(true))
                                .register(MasterMethods.GET_REPLICA_LIST, _ -> found)
                                .start()
                                .orThrow();
                RpcClient client = RpcClient.builder("127.0.0.1", server.port(), metrics).build()) {
            RpcMethod<Args.Key, ?> method =
                    replica ? MasterMethods.GET_REPLICA_LIST : MasterMethods.EXIST_KEY;
            RpcBench bench = new RpcBench(client, method, seconds);
            for (int round = 0; round < 3; round++) {
                bench.round();
            }
        }
    }

    private static ReplicaList oneReplica() {
        BufferDescriptor buffer =
                new BufferDescriptor(1 << 20, 0x7f00_0000_0000L, "tcp", "127.0.0.1:15954");
        return new ReplicaList(
                List.of(new ReplicaDescriptor(1, new Placement.Memory(buffer), 3)),
                5000,
                OptionalLong.empty());
    }

    private void round() throws Exception {
        blocking(1);
        blocking(8);
        blocking(64);
        pipelined(1);
        pipelined(8);
        pipelined(64);
        pipelined(256);
        asynchronous(64);
        System.out.println();
    }

    private void blocking(int threads) throws InterruptedException {
        long[] samples = new long[MAX_SAMPLES];
        LongAdder done = new LongAdder();
        long start = System.nanoTime();
        long end = start + (long) (seconds * 1e9);
        List<Thread> callers = new ArrayList<>();
        int[] sampled = new int[1];
        for (int i = 0; i < threads; i++) {
            boolean sampler = i == 0;
            callers.add(
                    Thread.ofPlatform()
                            .start(
                                    () -> {
                                        int n = 0;
                                        long now = System.nanoTime();
                                        while (now < end) {
                                            Object _ =
                                                    client.call(method, arguments, TIMEOUT)
                                                            .orThrow();
                                            long then = now;
                                            now = System.nanoTime();
                                            if (sampler && n < MAX_SAMPLES) {
                                                samples[n++] = now - then;
                                            }
                                            done.increment();
                                        }
                                        if (sampler) {
                                            sampled[0] = n;
                                        }
                                    }));
        }
        for (Thread caller : callers) {
            caller.join();
        }
        print(threads + " blocking", done.sum(), start, samples, sampled[0]);
    }

    private void pipelined(int depth) {
        pipelined(method, depth);
    }

    private <R> void pipelined(RpcMethod<Args.Key, R> typed, int depth) {
        RpcPipeline<Args.Key, R> pipeline = client.pipeline(typed, depth, TIMEOUT);
        long[] sent = new long[depth];
        long[] samples = new long[MAX_SAMPLES];
        long[] count = new long[1];
        long start = System.nanoTime();
        long end = start + (long) (seconds * 1e9);
        long added = 0;
        long now = start;
        while (now < end) {
            now = System.nanoTime();
            while (!pipeline.isFull()) {
                sent[(int) (added++ % depth)] = now;
                pipeline.add(arguments);
            }
            pipeline.drain(
                    outcome -> {
                        Object _ = outcome.orThrow();
                        long n = count[0]++;
                        if (n < MAX_SAMPLES) {
                            samples[(int) n] = System.nanoTime() - sent[(int) (n % depth)];
                        }
                    });
        }
        while (pipeline.inFlight() > 0) {
            pipeline.drain(_ -> {});
        }
        print("pipeline " + depth, count[0], start, samples, (int) Math.min(count[0], MAX_SAMPLES));
    }

    private void asynchronous(int depth) {
        long start = System.nanoTime();
        long end = start + (long) (seconds * 1e9);
        long count = 0;
        List<CompletableFuture<?>> wave = new ArrayList<>();
        while (System.nanoTime() < end) {
            wave.clear();
            for (int i = 0; i < depth; i++) {
                wave.add(client.callAsync(method, arguments, TIMEOUT));
            }
            wave.forEach(CompletableFuture::join);
            count += depth;
        }
        print("async " + depth, count, start, new long[1], 0);
    }

    private static void print(String what, long count, long start, long[] samples, int sampled) {
        double elapsed = (System.nanoTime() - start) / 1e9;
        Arrays.sort(samples, 0, sampled);
        double p50 = sampled == 0 ? Double.NaN : samples[sampled / 2] / 1e3;
        double p99 = sampled == 0 ? Double.NaN : samples[(int) (sampled * 0.99)] / 1e3;
        System.out.printf(
                "%-14s %,12.0f/s  p50 %6.1f us  p99 %7.1f us%n", what, count / elapsed, p50, p99);
    }
}
