package io.cassia.master.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.cassia.base.Clock;
import io.cassia.base.LimitedThreads;
import io.cassia.master.http.AdminMetrics.Refused;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Serves the admin endpoints, one virtual thread per request. Thread-safe.
 *
 * <p>Plain HTTP without authentication, as upstream: bind it to an address that only operators
 * reach.
 */
public final class AdminServer implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(AdminServer.class.getName());

    private static final int BACKLOG = 128;

    /** For the whole of a request to come. */
    private static final Duration REQUEST_TIME = Duration.ofSeconds(60);

    /** For an answer to be made and taken. */
    private static final Duration ANSWER_TIME = Duration.ofMinutes(10);

    /** Longest body of a request. */
    static final int MAX_BODY_BYTES = 16 << 20;

    /** Requests that are answered at one time; further ones are told to come again. */
    static final int MAX_REQUESTS = 256;

    private static final int NOT_FOUND = 404;
    private static final int WRONG_METHOD = 405;
    private static final int TOO_LARGE = 413;
    private static final int FAILED = 500;
    private static final int BUSY = 503;

    private final HttpServer server;
    private final LimitedThreads threads;

    private AdminServer(HttpServer server, LimitedThreads threads) {
        this.server = server;
        this.threads = threads;
    }

    /**
     * Listens and serves. RPC_FAIL when it cannot, with the address and the cause.
     *
     * @param port 0 takes a free one
     * @param metricsText body of {@code /metrics}
     */
    public static Outcome<AdminServer> start(
            String host,
            int port,
            AdminQueries queries,
            Supplier<String> metricsText,
            MeterRegistry meters) {
        InetSocketAddress address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            return cannotListen(host, port, "the host name does not resolve");
        }
        try {
            HttpServer server = HttpServer.create(address, BACKLOG);
            LimitedThreads threads =
                    new LimitedThreads("cassia-admin-", Clock.system(), REQUEST_TIME);
            server.setExecutor(threads);
            Service service =
                    new Service(
                            AdminEndpoints.of(queries, metricsText),
                            new AdminMetrics(meters),
                            new Semaphore(MAX_REQUESTS),
                            threads);
            server.createContext("/", service::serve);
            server.start();
            return Outcome.ok(new AdminServer(server, threads));
        } catch (IOException e) {
            return cannotListen(host, port, String.valueOf(e.getMessage()));
        }
    }

    private static Outcome<AdminServer> cannotListen(String host, int port, String cause) {
        return Outcome.failed(
                StoreCode.RPC_FAIL,
                "admin server cannot listen on %s:%d: %s; choose another address or port"
                        .formatted(host, port, cause));
    }

    /** Answers requests within the limits. Immutable but for the permits. */
    private record Service(
            Endpoints endpoints, AdminMetrics metrics, Semaphore permits, LimitedThreads threads) {
        void serve(HttpExchange exchange) throws IOException {
            metrics.request();
            try (exchange) {
                if (!permits.tryAcquire()) {
                    refuse(
                                    Refused.TOO_MANY_REQUESTS,
                                    BUSY,
                                    "%d requests are being answered; come again"
                                            .formatted(MAX_REQUESTS))
                            .send(exchange);
                    return;
                }
                try {
                    answer(exchange).send(exchange);
                } catch (RuntimeException e) {
                    broken(exchange, e);
                } finally {
                    permits.release();
                }
            }
        }

        private Reply answer(HttpExchange exchange) throws IOException {
            String path = exchange.getRequestURI().getPath();
            if (path == null || !endpoints.knows(path)) {
                return refuse(
                        Refused.UNKNOWN_PATH,
                        NOT_FOUND,
                        "no endpoint %s; there are %s"
                                .formatted(path, String.join(", ", endpoints.paths())));
            }
            String method = exchange.getRequestMethod();
            Optional<Function<Request, Reply>> endpoint =
                    endpoints.find(method.equals("HEAD") ? "GET" : method, path);
            if (endpoint.isEmpty()) {
                exchange.getResponseHeaders().set("Allow", endpoints.allowed(path));
                return refuse(
                        Refused.WRONG_METHOD,
                        WRONG_METHOD,
                        "%s is not for %s; use %s"
                                .formatted(path, method, endpoints.allowed(path)));
            }
            byte[] body;
            try (InputStream in = exchange.getRequestBody()) {
                body = in.readNBytes(MAX_BODY_BYTES + 1);
            }
            threads.allow(ANSWER_TIME);
            if (body.length > MAX_BODY_BYTES) {
                return refuse(
                        Refused.BODY_TOO_LARGE,
                        TOO_LARGE,
                        "a body has at most %d bytes".formatted(MAX_BODY_BYTES));
            }
            String raw = exchange.getRequestURI().getRawQuery();
            return endpoint.get()
                    .apply(
                            new Request(
                                    new QueryString(raw == null ? "" : raw),
                                    new String(body, StandardCharsets.UTF_8)));
        }

        private Reply refuse(Refused reason, int status, String detail) {
            metrics.refused(reason);
            StoreCode code =
                    status == BUSY
                            ? StoreCode.UNAVAILABLE_IN_CURRENT_STATUS
                            : StoreCode.INVALID_PARAMS;
            return Reply.failure(status, code, detail);
        }

        private void broken(HttpExchange exchange, RuntimeException e) throws IOException {
            metrics.refused(Refused.FAILED);
            LOG.log(
                    System.Logger.Level.ERROR,
                    "admin request failed " + exchange.getRequestURI(),
                    e);
            if (exchange.getResponseCode() == -1) {
                Reply.failure(FAILED, StoreCode.INTERNAL_ERROR, "see the master's log")
                        .send(exchange);
            }
        }
    }

    public int port() {
        return server.getAddress().getPort();
    }

    /** Stops at once; requests being answered get a second. */
    @Override
    public void close() {
        server.stop(0);
        threads.close(Duration.ofSeconds(1));
    }
}
