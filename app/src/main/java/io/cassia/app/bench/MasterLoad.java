package io.cassia.app.bench;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.rpc.RpcClient;
import io.cassia.rpc.RpcPipeline;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/**
 * One client that loads a master. Confined to its thread.
 *
 * <p>Objects have no bytes: the segment is a promise that nobody cashes.
 */
final class MasterLoad implements AutoCloseable {
    /** Any ReplicaType. */
    private static final int ALL = 4;

    private static final ByteString TENANT = ByteString.of("default");
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final long BLOCK_BYTES = 4096;
    private static final long SEGMENT_BYTES = 1L << 44;
    private static final int FILL_BATCH = 1000;
    private static final int RING = 4096;

    private final RpcClient client;
    private final Uuid id;
    private final Clock clock;
    private final SplittableRandom random;
    private long nextPut;

    /**
     * @param number of the client, from 1; clients put different keys
     */
    MasterLoad(String host, int port, int number, Clock clock) {
        this.client = RpcClient.builder(host, port, new SimpleMeterRegistry()).build();
        this.id = new Uuid(77, number);
        this.clock = clock;
        this.random = new SplittableRandom(number);
        this.nextPut = (long) number << 40;
    }

    /** 55 bytes, as a model's block hash makes them. */
    static ByteString key(long number) {
        String hex = Long.toHexString(number * 0x9E37_79B9_7F4A_7C15L);
        return ByteString.of(
                "vllm/llama-3-70b/tp8/layer-all/" + "0".repeat(24 - hex.length()) + hex);
    }

    /** Lends memory that there is none of. */
    void mount() {
        Segment segment =
                new Segment(
                        new Uuid(88, 1),
                        "bench",
                        1L << 32,
                        SEGMENT_BYTES,
                        "127.0.0.1:1",
                        "tcp",
                        "");
        client.callExpected(
                        MasterMethods.REMOUNT_SEGMENT,
                        new Args.ReMountSegment(List.of(segment), id),
                        TIMEOUT)
                .orThrow();
    }

    /** Puts the objects from one number to another. */
    void fill(long from, long to) {
        for (long at = from; at < to; at += FILL_BATCH) {
            put(at, (int) Math.min(FILL_BATCH, to - at));
        }
    }

    /** Removes everything that was put by {@link #measure}, and puts the objects anew. */
    void refill(long objects) {
        client.call(MasterMethods.REMOVE_ALL, new Args.RemoveAll(true, TENANT), TIMEOUT).orThrow();
        fill(0, objects);
    }

    private void put(long from, int count) {
        List<ByteString> keys = new ArrayList<>(count);
        List<ObjectMeta> metas = new ArrayList<>(count);
        List<Long> lengths = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            ByteString key = key(from + i);
            keys.add(key);
            metas.add(new ObjectMeta(key, OptionalLong.empty()));
            lengths.add(BLOCK_BYTES);
        }
        done(
                client.call(
                        MasterMethods.BATCH_PUT_START,
                        new Args.BatchPutStart(id, keys, lengths, ReplicateConfig.DEFAULT, TENANT),
                        TIMEOUT));
        done(
                client.call(
                        MasterMethods.BATCH_PUT_END,
                        new Args.BatchPutEnd(id, metas, ALL, TENANT),
                        TIMEOUT));
    }

    private static <T> void done(Outcome<List<Outcome<T>>> batch) {
        for (Outcome<T> item : batch.orThrow()) {
            item.orThrow();
        }
    }

    private static void found(boolean found) {
        if (!found) {
            throw new IllegalStateException("a key that was put is missing");
        }
    }

    /** Works until the time, and does at least one request; how many keys. */
    long measure(MasterCell cell, long objects, long endNanos, Histogram times) {
        return cell.inFlight() > 1
                ? pipelined(cell, objects, endNanos, times)
                : waiting(cell, objects, endNanos, times);
    }

    private long waiting(MasterCell cell, long objects, long endNanos, Histogram times) {
        List<List<ByteString>> requests = new ArrayList<>();
        for (int i = 0; i < Math.max(16, RING / cell.batch()); i++) {
            List<ByteString> keys = new ArrayList<>(cell.batch());
            for (int k = 0; k < cell.batch(); k++) {
                keys.add(key(random.nextLong(objects)));
            }
            requests.add(keys);
        }
        long keys = 0;
        long now = clock.nanos();
        int next = 0;
        do {
            request(cell, requests.get(next++ % requests.size()));
            keys += cell.batch();
            long end = clock.nanos();
            times.recordValue(end - now);
            now = end;
        } while (now < endNanos);
        return keys;
    }

    private void request(MasterCell cell, List<ByteString> keys) {
        boolean one = cell.batch() == 1;
        switch (cell.operation()) {
            case EXIST -> {
                if (one) {
                    found(
                            client.callExpected(
                                            MasterMethods.EXIST_KEY,
                                            new Args.Key(keys.getFirst(), TENANT),
                                            TIMEOUT)
                                    .orThrow());
                } else {
                    client.call(MasterMethods.BATCH_EXIST_KEY, new Args.Keys(keys, TENANT), TIMEOUT)
                            .orThrow()
                            .forEach(item -> found(item.orThrow()));
                }
            }
            case GET -> {
                if (one) {
                    client.callExpected(
                                    MasterMethods.GET_REPLICA_LIST,
                                    new Args.Key(keys.getFirst(), TENANT),
                                    TIMEOUT)
                            .orThrow();
                } else {
                    done(
                            client.call(
                                    MasterMethods.BATCH_GET_REPLICA_LIST,
                                    new Args.Keys(keys, TENANT),
                                    TIMEOUT));
                }
            }
            case PUT -> {
                if (one) {
                    putOne(key(nextPut));
                } else {
                    put(nextPut, keys.size());
                }
                nextPut += keys.size();
            }
        }
    }

    private void putOne(ByteString key) {
        client.callExpected(MasterMethods.PUT_START, start(key), TIMEOUT).orThrow();
        client.callExpected(MasterMethods.PUT_END, end(key), TIMEOUT).orThrow();
    }

    private Args.PutStart start(ByteString key) {
        return new Args.PutStart(id, key, BLOCK_BYTES, ReplicateConfig.DEFAULT, TENANT);
    }

    private Args.PutEnd end(ByteString key) {
        return new Args.PutEnd(id, new ObjectMeta(key, OptionalLong.empty()), ALL, TENANT);
    }

    private long pipelined(MasterCell cell, long objects, long endNanos, Histogram times) {
        return switch (cell.operation()) {
            case EXIST ->
                    new Pipelined<>(
                                    client.pipeline(
                                            MasterMethods.EXIST_KEY, cell.inFlight(), TIMEOUT),
                                    times)
                            .run(existing(objects), endNanos);
            case GET ->
                    new Pipelined<>(
                                    client.pipeline(
                                            MasterMethods.GET_REPLICA_LIST,
                                            cell.inFlight(),
                                            TIMEOUT),
                                    times)
                            .run(existing(objects), endNanos);
            case PUT -> putPipelined(cell.inFlight(), endNanos, times);
        };
    }

    private List<Args.Key> existing(long objects) {
        List<Args.Key> keys = new ArrayList<>(RING);
        for (int i = 0; i < RING; i++) {
            keys.add(new Args.Key(key(random.nextLong(objects)), TENANT));
        }
        return keys;
    }

    /** As many starts in flight, then as many ends. */
    private long putPipelined(int depth, long endNanos, Histogram times) {
        RpcPipeline<Args.PutStart, ?> starts =
                client.pipeline(MasterMethods.PUT_START, depth, TIMEOUT);
        RpcPipeline<Args.PutEnd, ?> ends = client.pipeline(MasterMethods.PUT_END, depth, TIMEOUT);
        long keys = 0;
        long now = clock.nanos();
        do {
            long from = nextPut;
            for (int i = 0; i < depth; i++) {
                starts.add(start(key(from + i)));
            }
            drain(starts);
            for (int i = 0; i < depth; i++) {
                ends.add(end(key(from + i)));
            }
            drain(ends);
            nextPut += depth;
            keys += depth;
            long end = clock.nanos();
            times.recordValue(end - now);
            now = end;
        } while (now < endNanos);
        return keys;
    }

    private static void drain(RpcPipeline<?, ?> pipeline) {
        while (pipeline.inFlight() > 0) {
            pipeline.drain(MasterLoad::require);
        }
    }

    /** The call's outcome, and in it the method's own. */
    private static void require(Outcome<?> outcome) {
        if (outcome.orThrow() instanceof Outcome<?> inner) {
            inner.orThrow();
        }
    }

    /** Keeps requests in flight. Confined to the client's thread. */
    private final class Pipelined<R> {
        private final RpcPipeline<Args.Key, R> pipeline;
        private final Histogram times;
        private final long[] sent;
        private long added;
        private long answered;

        Pipelined(RpcPipeline<Args.Key, R> pipeline, Histogram times) {
            this.pipeline = pipeline;
            this.times = times;
            this.sent = new long[RING];
        }

        long run(List<Args.Key> keys, long endNanos) {
            long now = clock.nanos();
            do {
                while (!pipeline.isFull()) {
                    sent[(int) (added % RING)] = now;
                    pipeline.add(keys.get((int) (added++ % RING)));
                }
                pipeline.drain(this::answered);
                now = clock.nanos();
            } while (now < endNanos);
            long inTime = answered;
            while (pipeline.inFlight() > 0) {
                pipeline.drain(MasterLoad::require);
            }
            return inTime;
        }

        private void answered(Outcome<R> outcome) {
            require(outcome);
            times.recordValue(clock.nanos() - sent[(int) (answered++ % RING)]);
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
