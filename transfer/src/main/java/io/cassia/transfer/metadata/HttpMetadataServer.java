package io.cassia.transfer.metadata;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.cassia.base.Clock;
import io.cassia.base.HostPort;
import io.cassia.base.LimitedThreads;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The metadata store over HTTP that engines publish to, in memory. Guarded.
 *
 * <pre>
 *   GET    /metadata?key=K    200 value | 404 | 400 no key
 *   PUT    /metadata?key=K    200 | 400 no key, too long, or name taken | 413 | 503 busy | 507 full
 *   DELETE /metadata?key=K    200 | 404 | 400 no key
 *   GET    /health            200 OK
 * </pre>
 *
 * <p>Values that are longer than usual share a quarter of the heap while they are read; one that
 * finds no room there for two seconds is refused with 503, and short ones are served on.
 *
 * <p>An endpoint ({@code rpc_meta}) belongs to the engine that wrote it. The same text again is
 * accepted; a different one is refused with 400 as upstream does it, unless it comes from a restart
 * of the owner, which must not be locked out by its predecessor's entry: it carries a higher {@code
 * incarnation}, or the owner's entries have not been written for {@link #OWNER_TTL} (Cassia's
 * engines write theirs every ten seconds).
 */
public final class HttpMetadataServer implements AutoCloseable {
    /** After so long without a write of its owner an endpoint may be taken over. */
    public static final Duration OWNER_TTL = MetadataOptions.ENTRY_TTL;

    static final int MAX_KEY_BYTES = 1024;
    static final int MAX_VALUE_BYTES = 16 << 20;
    private static final int MAX_ENTRIES = 100_000;
    private static final long MAX_TOTAL_BYTES = 256L << 20;
    private static final String PATH = "/metadata";

    /** Descriptors of hundreds of buffers; who sends no more waits for nobody. */
    static final int USUAL_BYTES = 64 << 10;

    /** What a byte of a value may cost while it is read: in pieces, whole, and whole once more. */
    private static final int COST = 3;

    /** What is accounted: a semaphore counts in an int. */
    private static final int UNIT = 1024;

    private static final Duration ROOM_PATIENCE = Duration.ofSeconds(2);

    /** For the whole of a request to come. */
    private static final Duration REQUEST_TIME = Duration.ofSeconds(60);

    /** For an answer to be taken. */
    private static final Duration ANSWER_TIME = Duration.ofMinutes(10);

    /**
     * A value, as bytes: whoever asks for it gets these, without a copy.
     *
     * @param writtenNanos when, by the server's clock
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Entry(byte[] value, long writtenNanos) {
        boolean is(byte[] other) {
            return Arrays.equals(value, other);
        }

        String text() {
            return new String(value, StandardCharsets.UTF_8);
        }
    }

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Answer(int status, byte[] body) {
        Answer(int status, String text) {
            this(status, text.getBytes(StandardCharsets.UTF_8));
        }
    }

    private final HttpServer server;
    private final LimitedThreads threads;
    private final Clock clock;
    private final Counter refusals;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Map<String, Entry> entries = new HashMap<>();

    @GuardedBy("lock")
    private long totalBytes;

    private final int maxEntries;
    private final int roomUnits;
    private final Semaphore room;

    private HttpMetadataServer(
            HttpServer server, Clock clock, MeterRegistry meters, Limits limits) {
        this.server = server;
        this.clock = clock;
        this.maxEntries = limits.entries();
        this.roomUnits = Math.clamp(limits.roomBytes() / UNIT, 1, Integer.MAX_VALUE);
        this.room = new Semaphore(roomUnits, true);
        // In real time, as the network is.
        this.threads = new LimitedThreads("cassia-metadata-", Clock.system(), limits.requestTime());
        this.refusals =
                Counter.builder("cassia.metadata.refusals")
                        .description("Writes to the metadata server that were refused")
                        .register(meters);
        Gauge.builder("cassia.metadata.entries", this, HttpMetadataServer::size)
                .description("Keys held by the metadata server")
                .register(meters);
        server.setExecutor(threads);
        server.createContext(PATH, this::metadata);
        server.createContext("/health", exchange -> answer(exchange, new Answer(200, "OK")));
    }

    /** Listens; port 0 takes any free one. ERR_SOCKET when it cannot, ERR_DNS for the host. */
    public static Outcome<HttpMetadataServer> start(
            String host, int port, Clock clock, MeterRegistry meters) {
        long quarter = Runtime.getRuntime().maxMemory() / 4;
        return start(host, port, clock, meters, new Limits(MAX_ENTRIES, quarter, REQUEST_TIME));
    }

    /**
     * What it takes on. Immutable.
     *
     * @param entries keys at a time
     * @param roomBytes heap for long values while they are read
     * @param requestTime for the whole of a request to come
     */
    record Limits(int entries, long roomBytes, Duration requestTime) {}

    /** The same, for tests that fill it. */
    static Outcome<HttpMetadataServer> start(
            String host, int port, Clock clock, MeterRegistry meters, Limits limits) {
        try {
            HttpServer server =
                    HttpServer.create(
                            new InetSocketAddress(InetAddress.getByName(host), port), 128);
            HttpMetadataServer started = new HttpMetadataServer(server, clock, meters, limits);
            server.start();
            return Outcome.ok(started);
        } catch (UnknownHostException e) {
            return Outcome.failed(
                    TransferCode.ERR_DNS, "host of the metadata server: " + e.getMessage());
        } catch (IOException e) {
            return Outcome.failed(
                    TransferCode.ERR_SOCKET,
                    "metadata server on %s port %d: %s".formatted(host, port, e.getMessage()));
        }
    }

    public int port() {
        return server.getAddress().getPort();
    }

    /** What engines are given as metadata: {@code http://host:port/metadata}. */
    public String uri() {
        InetSocketAddress address = server.getAddress();
        String host = address.getAddress().getHostAddress();
        return "http://" + new HostPort(host, address.getPort()) + PATH;
    }

    private void metadata(HttpExchange exchange) throws IOException {
        Optional<String> key = key(exchange.getRequestURI().getRawQuery());
        Answer answer;
        if (key.isEmpty()) {
            answer = new Answer(400, "parameter key is missing, empty or too long");
        } else {
            answer =
                    switch (exchange.getRequestMethod()) {
                        case "GET" -> find(key.get());
                        case "PUT" -> put(key.get(), exchange);
                        case "DELETE" -> remove(key.get());
                        default -> new Answer(405, "method not allowed");
                    };
        }
        threads.allow(ANSWER_TIME);
        answer(exchange, answer);
    }

    private static Optional<String> key(String query) {
        if (query == null) {
            return Optional.empty();
        }
        for (String parameter : query.split("&", -1)) {
            if (parameter.startsWith("key=")) {
                try {
                    String key = URLDecoder.decode(parameter.substring(4), StandardCharsets.UTF_8);
                    int length = key.getBytes(StandardCharsets.UTF_8).length;
                    return length == 0 || length > MAX_KEY_BYTES
                            ? Optional.empty()
                            : Optional.of(key);
                } catch (IllegalArgumentException e) {
                    return Optional.empty();
                }
            }
        }
        return Optional.empty();
    }

    private static void answer(HttpExchange exchange, Answer answer) throws IOException {
        byte[] body = answer.body();
        String type = answer.status() == 200 ? "application/json" : "text/plain; charset=utf-8";
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(answer.status(), body.length == 0 ? -1 : body.length);
        try (exchange) {
            if (body.length > 0) {
                exchange.getResponseBody().write(body);
            }
        }
    }

    private Answer find(String key) {
        lock.lock();
        try {
            Entry entry = entries.get(key);
            return entry == null
                    ? new Answer(404, "metadata not found")
                    : new Answer(200, entry.value());
        } finally {
            lock.unlock();
        }
    }

    private Answer put(String key, HttpExchange exchange) throws IOException {
        InputStream body = exchange.getRequestBody();
        byte[] start = body.readNBytes(USUAL_BYTES);
        Answer answer = start.length < USUAL_BYTES ? put(key, start) : putLong(key, start, body);
        if (answer.status() != 200) {
            refusals.increment();
        }
        return answer;
    }

    /** How much is coming nobody knows for sure: room is taken for the longest. */
    private Answer putLong(String key, byte[] start, InputStream body) throws IOException {
        int units = Math.min(roomUnits, MAX_VALUE_BYTES / UNIT * COST);
        try {
            if (!room.tryAcquire(units, ROOM_PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                return new Answer(503, "too many long values at a time; try again");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Answer(503, "the metadata server is closing");
        }
        try {
            byte[] rest = body.readNBytes(MAX_VALUE_BYTES - start.length + 1);
            if (start.length + rest.length > MAX_VALUE_BYTES) {
                return new Answer(413, "value longer than " + MAX_VALUE_BYTES + " bytes");
            }
            byte[] whole = Arrays.copyOf(start, start.length + rest.length);
            System.arraycopy(rest, 0, whole, start.length, rest.length);
            return put(key, whole);
        } finally {
            room.release(units);
        }
    }

    private Answer put(String key, byte[] value) {
        lock.lock();
        try {
            Entry before = entries.get(key);
            long growth = (long) value.length - (before == null ? 0 : before.value().length);
            if ((before == null && entries.size() >= maxEntries)
                    || totalBytes + growth > MAX_TOTAL_BYTES) {
                return new Answer(507, "the metadata server is full");
            }
            if (before != null && isEndpoint(key) && !before.is(value)) {
                Optional<String> refusal =
                        refusal(key, before, new String(value, StandardCharsets.UTF_8));
                if (refusal.isPresent()) {
                    return new Answer(400, refusal.get());
                }
            }
            entries.put(key, new Entry(value, clock.nanos()));
            totalBytes += growth;
            return new Answer(
                    200,
                    before != null && before.is(value) ? "metadata unchanged" : "metadata updated");
        } finally {
            lock.unlock();
        }
    }

    private static boolean isEndpoint(String key) {
        return key.contains(MetadataKeys.RPC_META);
    }

    /** Why an owner's endpoint must not be replaced; nothing when it may. */
    @GuardedBy("lock")
    private Optional<String> refusal(String key, Entry before, String value) {
        OptionalLong older = incarnation(before.text());
        OptionalLong newer = incarnation(value);
        if (older.isPresent() && newer.isPresent() && newer.getAsLong() > older.getAsLong()) {
            return Optional.empty();
        }
        Entry segment = entries.get(key.replace(MetadataKeys.RPC_META, MetadataKeys.RAM));
        long written =
                segment == null
                        ? before.writtenNanos()
                        : Math.max(before.writtenNanos(), segment.writtenNanos());
        long ageNanos = clock.nanos() - written;
        if (ageNanos > OWNER_TTL.toNanos()) {
            return Optional.empty();
        }
        return Optional.of(
                "Duplicate rpc_meta key not allowed: its owner wrote %d s ago; after %d s without a"
                                .formatted(
                                        TimeUnit.NANOSECONDS.toSeconds(ageNanos),
                                        OWNER_TTL.toSeconds())
                        + " write it may be replaced");
    }

    private static OptionalLong incarnation(String value) {
        return switch (DescriptorCodec.decodeRpcMeta(value, "")) {
            case Outcome.Ok<RpcMeta>(RpcMeta meta) -> meta.incarnation();
            case Outcome.Failed<RpcMeta> failed -> OptionalLong.empty();
        };
    }

    private Answer remove(String key) {
        lock.lock();
        try {
            Entry entry = entries.remove(key);
            if (entry == null) {
                return new Answer(404, "metadata not found");
            }
            totalBytes -= entry.value().length;
            return new Answer(200, "metadata deleted");
        } finally {
            lock.unlock();
        }
    }

    private int size() {
        lock.lock();
        try {
            return entries.size();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.close();
    }
}
