package io.cassia.master;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.master.core.AllocationStrategy;
import io.cassia.master.core.Command;
import io.cassia.master.core.CoreConfig;
import io.cassia.master.core.MasterCore;
import io.cassia.master.core.TaskRules;
import io.cassia.rpc.RpcClient;
import io.cassia.rpc.RpcMethod;
import io.cassia.rpc.RpcPipeline;
import io.cassia.rpc.cassia.CassiaMessages;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.function.LongFunction;

/**
 * Speed and size of a master: {@code MasterBench [objects] [seconds per figure]}. Figures are
 * printed, not asserted; run with {@code -XX:+UseCompactObjectHeaders}.
 */
final class MasterBench {
    private static final Uuid CLIENT = new Uuid(1, 2);
    private static final ByteString TENANT = ByteString.of("default");
    private static final long BLOCK = 4096;
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final int objects;
    private final double seconds;
    private final SplittableRandom random = new SplittableRandom(1);

    private MasterBench(int objects, double seconds) {
        this.objects = objects;
        this.seconds = seconds;
    }

    public static void main(String[] args) throws InterruptedException {
        int objects = args.length > 0 ? Integer.parseInt(args[0]) : 1_000_000;
        double seconds = args.length > 1 ? Double.parseDouble(args[1]) : 1.5;
        MasterBench bench = new MasterBench(objects, seconds);
        bench.core();
        bench.rpc();
    }

    /** 55 bytes, as a model's block hash makes them. */
    private static ByteString key(long number) {
        String hex = Long.toHexString(number * 0x9E37_79B9_7F4A_7C15L);
        return ByteString.of(
                "vllm/llama-3-70b/tp8/layer-all/" + "0".repeat(24 - hex.length()) + hex);
    }

    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static void ok(Outcome<?> outcome) {
        if (outcome instanceof Outcome.Failed<?> failed) {
            throw new IllegalStateException(failed.toString());
        }
    }

    private static CoreConfig config(long leaseNanos, double watermark) {
        return new CoreConfig(
                leaseNanos,
                1,
                1,
                true,
                Long.MAX_VALUE / 4,
                30_000_000_000L,
                600_000_000_000L,
                watermark,
                0.05,
                AllocationStrategy.RANDOM,
                false,
                Long.MAX_VALUE,
                1000,
                1_000_000,
                Long.MAX_VALUE / 4,
                0,
                false,
                TaskRules.DEFAULT,
                100_000_000,
                42);
    }

    private static Segment segment(long size) {
        return new Segment(
                new Uuid(11, 12), "node-a:1", 1L << 32, size, "10.0.0.1:12345", "tcp", "");
    }

    private static long usedHeap() throws InterruptedException {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            Thread.sleep(50);
            Runtime runtime = Runtime.getRuntime();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }

    private void core() throws InterruptedException {
        MasterCore core = new MasterCore(config(10_000_000_000L, 1.0), 0);
        ok(
                core.apply(
                        new Command.MountSegment(
                                new Args.MountSegment(segment(objects * BLOCK), CLIENT)),
                        1));
        long before = usedHeap();
        long start = cpuNanos();
        for (int i = 0; i < objects; i++) {
            put(core, i);
        }
        double took = (cpuNanos() - start) / 1e9;
        long heap = usedHeap() - before;
        int keyBytes = 16 + (key(0).length() + 7) / 8 * 8;
        System.out.printf(
                "%,d objects: put (start+end) %,.0f/s of cpu; heap %d B/object, of which key %d, estimate %d%n",
                objects, objects / took, heap / objects, keyBytes, core.metadataBytes() / objects);
        figure("exist", n -> core.apply(new Command.ExistKey(key(any()), TENANT), n).isOk());
        figure("get", n -> core.apply(new Command.GetReplicaList(key(any()), TENANT), n).isOk());
        figure("miss", n -> core.apply(new Command.GetReplicaList(key(-any()), TENANT), n).isOk());
        figure("acquire 16 + release", n -> acquire(core, n));
        figure("key alone", n -> key(any()).length() > 0);
        evicting();
    }

    private long any() {
        return random.nextInt(objects);
    }

    private static void put(MasterCore core, long number) {
        ByteString key = key(number);
        ok(
                core.apply(
                        new Command.PutStart(
                                new Args.PutStart(
                                        CLIENT, key, BLOCK, ReplicateConfig.DEFAULT, TENANT)),
                        number));
        ok(
                core.apply(
                        new Command.PutEnd(
                                new Args.PutEnd(
                                        CLIENT,
                                        new ObjectMeta(key, OptionalLong.empty()),
                                        4,
                                        TENANT)),
                        number));
    }

    private boolean acquire(MasterCore core, long now) {
        List<ByteString> keys = new ArrayList<>(16);
        for (int i = 0; i < 16; i++) {
            keys.add(key(any()));
        }
        CassiaMessages.Acquired acquired =
                core.apply(
                        new Command.Acquire(new CassiaMessages.Acquire(keys, TENANT, false, 0)),
                        now);
        return core.apply(new Command.Release(List.of(acquired.leaseId())), now) != null;
    }

    /** A full pool: each put evicts one object. */
    private void evicting() {
        MasterCore core = new MasterCore(config(1, 1.0), 0);
        int held = Math.min(objects, 200_000);
        ok(
                core.apply(
                        new Command.MountSegment(
                                new Args.MountSegment(segment(held * BLOCK), CLIENT)),
                        1));
        long[] number = {0};
        figure(
                "put + evict",
                n -> {
                    put(core, ++number[0]);
                    return true;
                });
    }

    private void figure(String what, LongFunction<Boolean> operation) {
        for (int round = 0; round < 2; round++) {
            long cpu = cpuNanos();
            long start = System.nanoTime();
            long end = start + (long) (seconds * 1e9);
            long count = 0;
            long now = start;
            boolean any = false;
            while (now < end) {
                for (int i = 0; i < 256; i++) {
                    any |= operation.apply(now);
                }
                count += 256;
                now = System.nanoTime();
            }
            if (round == 1) {
                // Of processor time: other work on the machine does not count.
                double nanos = (double) (cpuNanos() - cpu) / count;
                System.out.printf(
                        "  core %-22s %,12.0f/s of cpu  %6.0f ns%s%n",
                        what, 1e9 / nanos, nanos, any ? "" : " ");
            }
        }
    }

    private void rpc() throws InterruptedException {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        MasterConfig config =
                MasterConfig.builder()
                        .rpc("127.0.0.1", 0)
                        .httpOff()
                        .clientTtl(Duration.ofHours(1))
                        .eviction(1.0, 0.05)
                        .build();
        int held = Math.min(objects, 100_000);
        try (Master master = Master.start(config, Clock.system(), meters).orThrow();
                RpcClient client =
                        RpcClient.builder("127.0.0.1", master.rpcPort(), meters).build()) {
            ok(
                    client.callExpected(
                            MasterMethods.REMOUNT_SEGMENT,
                            new Args.ReMountSegment(List.of(segment(held * BLOCK)), CLIENT),
                            TIMEOUT));
            fill(client, held);
            List<Args.Key> keys = new ArrayList<>();
            for (int i = 0; i < 4096; i++) {
                keys.add(new Args.Key(key(random.nextInt(held)), TENANT));
            }
            for (int depth : new int[] {1, 8, 64}) {
                pipelined(client, "ExistKey", MasterMethods.EXIST_KEY, keys, depth);
            }
            for (int depth : new int[] {1, 8, 64}) {
                pipelined(client, "GetReplicaList", MasterMethods.GET_REPLICA_LIST, keys, depth);
            }
            batches(client, held);
            putBatches(client);
        }
    }

    private static void fill(RpcClient client, int held) {
        for (int from = 0; from < held; from += 1000) {
            startAndEnd(client, from, 1000);
        }
    }

    private static void startAndEnd(RpcClient client, long from, int count) {
        List<ByteString> keys = new ArrayList<>(count);
        List<ObjectMeta> metas = new ArrayList<>(count);
        List<Long> lengths = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            keys.add(key(from + i));
            metas.add(new ObjectMeta(keys.getLast(), OptionalLong.empty()));
            lengths.add(BLOCK);
        }
        int started =
                client.call(
                                MasterMethods.BATCH_PUT_START,
                                new Args.BatchPutStart(
                                        CLIENT, keys, lengths, ReplicateConfig.DEFAULT, TENANT),
                                TIMEOUT)
                        .orThrow()
                        .size();
        int ended =
                client.call(
                                MasterMethods.BATCH_PUT_END,
                                new Args.BatchPutEnd(CLIENT, metas, 4, TENANT),
                                TIMEOUT)
                        .orThrow()
                        .size();
        if (started != ended) {
            throw new IllegalStateException("batch sizes differ");
        }
    }

    private <R> void pipelined(
            RpcClient client,
            String what,
            RpcMethod<Args.Key, R> method,
            List<Args.Key> keys,
            int depth) {
        RpcPipeline<Args.Key, R> pipeline = client.pipeline(method, depth, TIMEOUT);
        for (int round = 0; round < 2; round++) {
            long[] sent = new long[depth];
            long[] samples = new long[4_000_000];
            int[] count = {0};
            long added = 0;
            long start = System.nanoTime();
            long end = start + (long) (seconds * 1e9);
            long now = start;
            while (now < end) {
                now = System.nanoTime();
                while (!pipeline.isFull()) {
                    sent[(int) (added % depth)] = now;
                    pipeline.add(keys.get((int) (added++ & 4095)));
                }
                pipeline.drain(
                        _ -> {
                            int n = count[0]++;
                            samples[n] = System.nanoTime() - sent[n % depth];
                        });
            }
            while (pipeline.inFlight() > 0) {
                pipeline.drain(_ -> {});
            }
            if (round == 1) {
                Arrays.sort(samples, 0, count[0]);
                System.out.printf(
                        "  rpc %-15s %3d in flight %,12.0f/s  p50 %5.1f us  p99 %6.1f us%n",
                        what,
                        depth,
                        count[0] / ((System.nanoTime() - start) / 1e9),
                        samples[count[0] / 2] / 1e3,
                        samples[(int) (count[0] * 0.99)] / 1e3);
            }
        }
    }

    private void batches(RpcClient client, int held) {
        for (int size : new int[] {16, 128}) {
            long start = System.nanoTime();
            long end = start + (long) (seconds * 1e9);
            long count = 0;
            while (System.nanoTime() < end) {
                List<ByteString> keys = new ArrayList<>(size);
                for (int i = 0; i < size; i++) {
                    keys.add(key(random.nextInt(held)));
                }
                count +=
                        client.call(
                                        MasterMethods.BATCH_GET_REPLICA_LIST,
                                        new Args.Keys(keys, TENANT),
                                        TIMEOUT)
                                .orThrow()
                                .size();
            }
            System.out.printf(
                    "  rpc get in batches of %-4d %,24.0f keys/s%n",
                    size, count / ((System.nanoTime() - start) / 1e9));
        }
    }

    private void putBatches(RpcClient client) {
        for (int size : new int[] {1, 128}) {
            long start = System.nanoTime();
            long end = start + (long) (seconds * 1e9);
            long from = 10_000_000L * size;
            long count = 0;
            while (System.nanoTime() < end) {
                startAndEnd(client, from + count, size);
                count += size;
            }
            System.out.printf(
                    "  rpc put (start+end) in batches of %-4d %,12.0f keys/s%n",
                    size, count / ((System.nanoTime() - start) / 1e9));
        }
    }
}
