package io.cassia.lab.history;

import io.cassia.status.StoreCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.json.JsonMapper;

/** A thread that works on the keys of {@link HistoryClient} through the REST service. */
final class RestHistory implements AutoCloseable {
    private static final int LONGEST_WORDS = (256 << 10) / Content.WORD_BYTES;
    private static final int OK = 200;
    private static final int PARTIAL = 206;

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String address;
    private final Random random;
    private final Duration pace;
    private final HistoryLog log;
    private final CountDownLatch stopping = new CountDownLatch(1);
    private final Thread thread = Thread.ofPlatform().name("rest-history").unstarted(this::run);
    private volatile Optional<Exception> failure =
            Optional.of(new IllegalStateException("still running"));

    private RestHistory(String address, Random random, Duration pace, HistoryLog log) {
        this.address = address;
        this.random = random;
        this.pace = pace;
        this.log = log;
    }

    static RestHistory start(String address, int id, long seed, Duration pace, Path log)
            throws IOException {
        RestHistory history =
                new RestHistory(address, new Random(seed), pace, new HistoryLog(id, log));
        history.thread.start();
        return history;
    }

    private void run() {
        try (log) {
            while (!stopping.await(pace.toNanos(), TimeUnit.NANOSECONDS)) {
                step(random.nextInt(HistoryClient.KEYS));
            }
            failure = Optional.empty();
        } catch (IOException | InterruptedException | RuntimeException e) {
            failure = Optional.of(e);
        }
    }

    private void step(int key) throws IOException, InterruptedException {
        switch (random.nextInt(5)) {
            case 0 -> write(key, "put");
            case 1 -> write(key, "upsert");
            case 2 -> {
                int change = log.begin(key, 0);
                log.end(change, label(send("DELETE", "remove", key, "", new byte[0])));
            }
            case 3 -> {
                long words = random.nextInt(4096);
                long from = words * Content.WORD_BYTES;
                long to = from + (1L + random.nextInt(4096)) * Content.WORD_BYTES - 1;
                read(key, from, "bytes=%d-%d".formatted(from, to));
            }
            default -> read(key, 0, "");
        }
    }

    private void write(int key, String how) throws IOException, InterruptedException {
        long version = log.nextVersion(key);
        byte[] body = new byte[(1 + random.nextInt(LONGEST_WORDS)) * Content.WORD_BYTES];
        Content.fill(MemorySegment.ofArray(body), version);
        int change = log.begin(key, version);
        log.end(change, label(send("PUT", how, key, "", body)));
    }

    private void read(int key, long offset, String range) throws IOException, InterruptedException {
        long start = System.nanoTime();
        HttpResponse<byte[]> response = send("GET", "get", key, range, new byte[0]);
        String label = label(response);
        long version = 0;
        if (label.equals(StoreCode.OK.toString())) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, response.body());
                version = Content.version(bytes, offset);
            }
        }
        log.read(key, version, start, label);
    }

    private HttpResponse<byte[]> send(
            String method, String path, int key, String range, byte[] body)
            throws IOException, InterruptedException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(
                                URI.create(
                                        address
                                                + "/api/"
                                                + path
                                                + "/"
                                                + HistoryClient.key(key).text()))
                        .timeout(Duration.ofSeconds(60))
                        .method(method, BodyPublishers.ofByteArray(body));
        if (!range.isEmpty()) {
            request.header("Range", range);
        }
        return http.send(request.build(), BodyHandlers.ofByteArray());
    }

    private static String label(HttpResponse<byte[]> response) {
        return response.statusCode() == OK || response.statusCode() == PARTIAL
                ? StoreCode.OK.toString()
                : JsonMapper.shared().readTree(response.body()).get("name").asString();
    }

    /** Ends it; an exception when it broke before. */
    void finish() throws Exception {
        stopping.countDown();
        thread.join(Duration.ofMinutes(2));
        if (failure.isPresent()) {
            throw new IllegalStateException("the REST client broke", failure.get());
        }
    }

    @Override
    public void close() {
        stopping.countDown();
        http.close();
    }
}
