package io.cassia.lab.history;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.PutOptions;
import io.cassia.store.RangeRead;
import io.cassia.store.StoreClient;
import io.cassia.store.StoreClientConfig;
import io.cassia.store.StoreClientConfig.Memory;
import io.cassia.store.WriteSession;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/** A process that reads and writes at random and writes down what it saw. */
final class HistoryClient {
    static final int KEYS = 24;
    private static final int PARALLEL = 4;
    private static final int LONGEST_BYTES = 512 << 10;

    /** Less than all objects, so that copies come and go. */
    private static final long HOT_BYTES = 1 << 20;

    private final Random random;
    private final StoreClient client;
    private final HistoryLog log;
    private final MemorySegment memory;
    private String lastSegment = "";

    private HistoryClient(long seed, StoreClient client, HistoryLog log, MemorySegment memory) {
        this.random = new Random(seed);
        this.client = client;
        this.log = log;
        this.memory = memory;
    }

    /**
     * Arguments: master, id, seed, log, milliseconds between two steps; runs until there is input.
     */
    public static void main(String[] args) throws Exception {
        StoreClientConfig config =
                new StoreClientConfig(
                                args[0],
                                StoreClientConfig.P2P,
                                "127.0.0.1",
                                "default",
                                Duration.ofSeconds(5))
                        .withMemory(Memory.DEFAULT.withHotCache(HOT_BYTES));
        try (Arena arena = Arena.ofShared();
                HistoryLog log = new HistoryLog(Integer.parseInt(args[1]), Path.of(args[3]))) {
            StoreClient client =
                    StoreClient.connect(config, Clock.system(), new SimpleMeterRegistry())
                            .orThrow();
            try (client) {
                HistoryClient history =
                        new HistoryClient(
                                Long.parseLong(args[2]),
                                client,
                                log,
                                arena.allocate(4L * LONGEST_BYTES, 64));
                System.out.println("started");
                long pace = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(args[4]));
                while (System.in.available() == 0) {
                    history.step();
                    LockSupport.parkNanos(pace);
                }
            }
        }
    }

    static ByteString key(int key) {
        return ByteString.of("history-" + key);
    }

    private void step() throws IOException {
        int key = random.nextInt(KEYS);
        switch (random.nextInt(14)) {
            case 0, 1 -> write(key, PutOptions.DEFAULT);
            case 2, 3 -> write(key, PutOptions.UPSERT.withReplicas(1 + random.nextInt(2)));
            case 4 -> pieces(key);
            case 5 -> remove(key);
            case 6, 7 -> range(key);
            case 8 -> batch();
            case 9 -> prefix();
            case 10 -> stream(key);
            case 11 -> copy(key);
            default -> read(key);
        }
    }

    /** Sizes on both sides of a chunk, most of them small. */
    private int size() {
        int words = 1 + random.nextInt((16 << 10) / Content.WORD_BYTES);
        return switch (random.nextInt(4)) {
            case 0 -> (64 << 10) + (random.nextInt(5) - 2) * Content.WORD_BYTES;
            case 1 -> (1 + random.nextInt(LONGEST_BYTES / Content.WORD_BYTES)) * Content.WORD_BYTES;
            default -> words * Content.WORD_BYTES;
        };
    }

    private void write(int key, PutOptions options) throws IOException {
        long version = log.nextVersion(key);
        MemorySegment value = memory.asSlice(0, size());
        Content.fill(value, version);
        int change = log.begin(key, version);
        log.end(change, label(client.put(key(key), value, options)));
    }

    /** In two pieces, of which the second comes first. */
    private void pieces(int key) throws IOException {
        long version = log.nextVersion(key);
        MemorySegment value = memory.asSlice(0, size());
        Content.fill(value, version);
        long half = value.byteSize() / 2;
        int change = log.begin(key, version);
        Outcome<?> outcome =
                client.openWrite(key(key), value.byteSize(), PutOptions.UPSERT)
                        .then(
                                session -> {
                                    try (session) {
                                        return written(session, value, half);
                                    }
                                });
        log.end(change, label(outcome));
    }

    private static Outcome<Long> written(WriteSession session, MemorySegment value, long half) {
        return session.write(half, value.asSlice(half))
                .then(_ -> half == 0 ? Outcome.done() : session.write(0, value.asSlice(0, half)))
                .then(_ -> session.commit());
    }

    private void remove(int key) throws IOException {
        int change = log.begin(key, 0);
        log.end(change, label(client.remove(key(key), random.nextBoolean())));
    }

    /** Changes nothing that a reader sees, whatever becomes of it; nobody waits for it. */
    private void copy(int key) throws IOException {
        Outcome<Uuid> task =
                client.replicas(key(key))
                        .then(replicas -> client.copy(key(key), List.of(elsewhere(replicas))));
        log.read(key, 0, System.nanoTime(), "copy-" + label(task));
    }

    /** A segment that has held something before, perhaps this one. */
    private String elsewhere(List<ReplicaDescriptor> replicas) {
        for (ReplicaDescriptor replica : replicas) {
            if (replica.placement() instanceof Placement.Memory(BufferDescriptor buffer)) {
                String other = lastSegment;
                lastSegment = buffer.transportEndpoint();
                return other.isEmpty() ? lastSegment : other;
            }
        }
        return lastSegment;
    }

    private static String label(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?>(Code code, String detail)
                ? code.toString()
                : StoreCode.OK.toString();
    }

    private void read(int key) throws IOException {
        long start = System.nanoTime();
        saw(key, client.get(key(key), memory), memory, 0, start);
    }

    private void range(int key) throws IOException {
        long offset = (long) random.nextInt(1024) * 64;
        MemorySegment into = memory.asSlice(0, (1L + random.nextInt(16_000)) * Content.WORD_BYTES);
        long start = System.nanoTime();
        Outcome<Long> read =
                client.getRanges(List.of(new RangeRead(key(key), offset, into))).getFirst();
        saw(key, read, into, offset, start);
    }

    private void batch() throws IOException {
        int first = random.nextInt(KEYS - PARALLEL);
        long start = System.nanoTime();
        saw(first, client.getBatch(keys(first), memories()), start);
    }

    private void prefix() throws IOException {
        int first = random.nextInt(KEYS - PARALLEL);
        long start = System.nanoTime();
        List<Outcome<Long>> read = client.getPrefix(keys(first), memories());
        // When the master could not be asked, the one failure says nothing of any key.
        saw(first, read, start);
    }

    private static List<ByteString> keys(int first) {
        return IntStream.range(first, first + PARALLEL).mapToObj(HistoryClient::key).toList();
    }

    private List<MemorySegment> memories() {
        return IntStream.range(0, PARALLEL)
                .mapToObj(i -> memory.asSlice((long) i * LONGEST_BYTES, LONGEST_BYTES))
                .toList();
    }

    private void saw(int first, List<Outcome<Long>> read, long start) throws IOException {
        for (int i = 0; i < read.size(); i++) {
            saw(first + i, read.get(i), memories().get(i), 0, start);
        }
    }

    /** Through the local buffer and the heap. */
    private void stream(int key) throws IOException {
        long start = System.nanoTime();
        Outcome<byte[]> read = client.async().getBytes(key(key)).toCompletableFuture().join();
        Outcome<Long> length =
                read.map(
                        bytes -> {
                            MemorySegment.copy(
                                    bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
                            return (long) bytes.length;
                        });
        saw(key, length, memory, 0, start);
    }

    private void saw(int key, Outcome<Long> read, MemorySegment into, long offset, long startNanos)
            throws IOException {
        long version =
                read instanceof Outcome.Ok<Long>(Long bytes)
                        ? Content.version(into.asSlice(0, bytes), offset)
                        : 0;
        log.read(key, version, startNanos, label(read));
    }
}
