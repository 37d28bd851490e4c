package io.cassia.lab.history;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.PutOptions;
import io.cassia.store.RangeRead;
import io.cassia.store.StoreClient;
import io.cassia.store.StoreClientConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A process that reads and writes at random and writes down what it saw. */
final class HistoryClient {
    static final int KEYS = 24;
    private static final int LONGEST_BYTES = 512 << 10;

    private final int id;
    private final Random random;
    private final StoreClient client;
    private final BufferedWriter log;
    private final MemorySegment memory;
    private int sequence;

    private HistoryClient(
            int id, long seed, StoreClient client, BufferedWriter log, MemorySegment memory) {
        this.id = id;
        this.random = new Random(seed);
        this.client = client;
        this.log = log;
        this.memory = memory;
    }

    /** Arguments: master, id, seed, log; runs until its input ends. */
    public static void main(String[] args) throws Exception {
        StoreClientConfig config =
                new StoreClientConfig(
                        args[0],
                        StoreClientConfig.P2P,
                        "127.0.0.1",
                        "default",
                        Duration.ofSeconds(5));
        try (Arena arena = Arena.ofShared();
                BufferedWriter log = Files.newBufferedWriter(Path.of(args[3]))) {
            StoreClient client =
                    StoreClient.connect(config, Clock.system(), new SimpleMeterRegistry())
                            .orThrow();
            try (client) {
                HistoryClient history =
                        new HistoryClient(
                                Integer.parseInt(args[1]),
                                Long.parseLong(args[2]),
                                client,
                                log,
                                arena.allocate(4L * LONGEST_BYTES, 64));
                System.out.println("started");
                while (System.in.available() == 0) {
                    history.step();
                }
            }
        }
    }

    private static ByteString key(int key) {
        return ByteString.of("history-" + key);
    }

    private void step() throws IOException {
        int key = random.nextInt(KEYS);
        switch (random.nextInt(10)) {
            case 0, 1 -> write(key, PutOptions.DEFAULT);
            case 2, 3 -> write(key, PutOptions.UPSERT.withReplicas(1 + random.nextInt(2)));
            case 4 -> remove(key);
            case 5, 6 -> range(key);
            case 7 -> batch();
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
        int change = ++sequence;
        long version = Content.version(key, id, change);
        MemorySegment value = memory.asSlice(0, size());
        Content.fill(value, version);
        begin(change, key, version);
        Outcome<?> outcome = client.put(key(key), value, options);
        end(change, outcome);
    }

    private void remove(int key) throws IOException {
        int change = ++sequence;
        begin(change, key, 0);
        end(change, client.remove(key(key), random.nextBoolean()));
    }

    private void begin(int change, int key, long version) throws IOException {
        line("B %d %d %d %d".formatted(change, System.nanoTime(), key, version));
    }

    private void end(int change, Outcome<?> outcome) throws IOException {
        line("E %d %d %s".formatted(change, System.nanoTime(), label(outcome)));
    }

    private void line(String line) throws IOException {
        log.write(line + "\n");
        log.flush();
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
        List<ByteString> keys = new ArrayList<>();
        List<MemorySegment> into = new ArrayList<>();
        int first = random.nextInt(KEYS - 4);
        for (int i = 0; i < 4; i++) {
            keys.add(key(first + i));
            into.add(memory.asSlice((long) i * LONGEST_BYTES, LONGEST_BYTES));
        }
        long start = System.nanoTime();
        List<Outcome<Long>> read = client.getBatch(keys, into);
        for (int i = 0; i < 4; i++) {
            saw(first + i, read.get(i), into.get(i), 0, start);
        }
    }

    private void saw(int key, Outcome<Long> read, MemorySegment into, long offset, long startNanos)
            throws IOException {
        long end = System.nanoTime();
        long version =
                read instanceof Outcome.Ok<Long>(Long bytes)
                        ? Content.version(into.asSlice(0, bytes), offset)
                        : 0;
        line("R %d %d %d %d %s".formatted(key, version, startNanos, end, label(read)));
    }
}
