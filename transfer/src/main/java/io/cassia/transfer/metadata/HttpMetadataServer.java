package io.cassia.transfer.metadata;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.cassia.base.Clock;
import io.cassia.base.HostPort;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The metadata store over HTTP that engines publish to, in memory. Guarded.
 *
 * <pre>
 *   GET    /metadata?key=K    200 value | 404 | 400 no key
 *   PUT    /metadata?key=K    200 | 400 no key, too long, or name taken | 413 | 507 full
 *   DELETE /metadata?key=K    200 | 404 | 400 no key
 *   GET    /health            200 OK
 * </pre>
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
    private static final long MAX_TOTAL_CHARS = 256L << 20;
    private static final String PATH = "/metadata";

    private record Entry(String value, long writtenNanos) {}

    private record Answer(int status, String body) {}

    private final HttpServer server;
    private final ExecutorService threads;
    private final Clock clock;
    private final Counter refusals;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Map<String, Entry> entries = new HashMap<>();

    @GuardedBy("lock")
    private long totalChars;

    private final int maxEntries;

    private HttpMetadataServer(
            HttpServer server, Clock clock, MeterRegistry meters, int maxEntries) {
        this.server = server;
        this.clock = clock;
        this.maxEntries = maxEntries;
        this.threads = Executors.newVirtualThreadPerTaskExecutor();
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
        return start(host, port, clock, meters, MAX_ENTRIES);
    }

    /** The same, for tests that fill it. */
    static Outcome<HttpMetadataServer> start(
            String host, int port, Clock clock, MeterRegistry meters, int maxEntries) {
        try {
            HttpServer server =
                    HttpServer.create(
                            new InetSocketAddress(InetAddress.getByName(host), port), 128);
            HttpMetadataServer started = new HttpMetadataServer(server, clock, meters, maxEntries);
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
        byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
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
        byte[] body = exchange.getRequestBody().readNBytes(MAX_VALUE_BYTES + 1);
        if (body.length > MAX_VALUE_BYTES) {
            refusals.increment();
            return new Answer(413, "value longer than " + MAX_VALUE_BYTES + " bytes");
        }
        Answer answer = put(key, new String(body, StandardCharsets.UTF_8));
        if (answer.status() != 200) {
            refusals.increment();
        }
        return answer;
    }

    private Answer put(String key, String value) {
        lock.lock();
        try {
            Entry before = entries.get(key);
            long growth = (long) value.length() - (before == null ? 0 : before.value().length());
            if ((before == null && entries.size() >= maxEntries)
                    || totalChars + growth > MAX_TOTAL_CHARS) {
                return new Answer(507, "the metadata server is full");
            }
            if (before != null && isEndpoint(key) && !before.value().equals(value)) {
                Optional<String> refusal = refusal(key, before, value);
                if (refusal.isPresent()) {
                    return new Answer(400, refusal.get());
                }
            }
            entries.put(key, new Entry(value, clock.nanos()));
            totalChars += growth;
            return new Answer(
                    200,
                    before != null && before.value().equals(value)
                            ? "metadata unchanged"
                            : "metadata updated");
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
        OptionalLong older = incarnation(before.value());
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
            totalChars -= entry.value().length();
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
        threads.shutdownNow();
    }
}
