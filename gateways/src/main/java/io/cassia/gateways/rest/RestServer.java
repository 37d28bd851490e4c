package io.cassia.gateways.rest;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.StoreClient;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/**
 * The store over HTTP: upstream's paths and more (spec mooncake-store 12.3, docs/adr/0045), one
 * virtual thread per request. Thread-safe.
 *
 * <p>Plain HTTP without authentication, as upstream, unless its {@link RestAccess} says otherwise:
 * bind it to an address that only its users reach. Requests beyond the limit are refused with 503;
 * connections beyond four times the limit are closed.
 */
public final class RestServer implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(RestServer.class.getName());
    private static final ScopedValue<SlowClients.Call> CALL = ScopedValue.newInstance();
    private static final int BACKLOG = 128;
    private static final Outcome.Failed<?> NO_TOKEN =
            Outcome.failed(
                    StoreCode.ILLEGAL_CLIENT,
                    "this service wants a token: Authorization: Bearer TOKEN");
    private static final int CONNECTIONS_PER_REQUEST = 4;

    private final HttpServer server;
    private final Clock clock;
    private final RestMetrics metrics;
    private final SlowClients slow;
    private final Semaphore requests;
    private final Semaphore connections;
    private final RestEndpoints endpoints;
    private final RestAccess access;
    private final ExecutorService threads =
            Executors.newThreadPerTaskExecutor(
                    Thread.ofVirtual().name("cassia-rest-", 0).factory());

    private RestServer(
            HttpServer server,
            RestConfig config,
            StoreClient client,
            SegmentHost segments,
            Clock clock,
            MeterRegistry meters,
            Supplier<String> metricsText) {
        this.server = server;
        this.clock = clock;
        this.access = config.access();
        this.metrics = new RestMetrics(meters);
        this.slow = new SlowClients(clock, config.patience(), metrics.slowClients::increment);
        this.requests = new Semaphore(config.maxRequests());
        this.connections = new Semaphore(config.maxRequests() * CONNECTIONS_PER_REQUEST);
        BodyMemory memory =
                new BodyMemory(
                        config.bufferBytes(), config.patience(), metrics.bufferRefusals::increment);
        metrics.watch(memory);
        this.endpoints =
                new RestEndpoints(
                        new ObjectEndpoints(client, memory),
                        new BatchEndpoints(client, memory),
                        new SegmentEndpoints(
                                segments, new LendableFiles(config.lendsFrom()), memory),
                        new StatusEndpoints(client, metrics, metricsText));
        server.setExecutor(this::run);
        server.createContext("/", this::handle);
    }

    /**
     * Starts serving; RPC_FAIL says which address cannot be listened on and why, INVALID_PARAMS why
     * the key store is none.
     *
     * @param client of the cluster; it stays the caller's, and its deadline is that of each request
     * @param segments what lends memory when a request asks for that
     * @param metricsText body of {@code /metrics}
     */
    public static Outcome<RestServer> start(
            RestConfig config,
            StoreClient client,
            SegmentHost segments,
            Clock clock,
            MeterRegistry meters,
            Supplier<String> metricsText) {
        InetSocketAddress address = new InetSocketAddress(config.host(), config.port());
        if (address.isUnresolved()) {
            return cannotListen(config, "the host name does not resolve");
        }
        return listen(config, address)
                .map(
                        server -> {
                            RestServer rest =
                                    new RestServer(
                                            server,
                                            config,
                                            client,
                                            segments,
                                            clock,
                                            meters,
                                            metricsText);
                            server.start();
                            return rest;
                        });
    }

    private static Outcome<HttpServer> listen(RestConfig config, InetSocketAddress address) {
        RestAccess access = config.access();
        Outcome<Optional<SSLContext>> tls =
                access.keyStore()
                        .map(file -> RestAccess.tls(file, access.password()).map(Optional::of))
                        .orElseGet(() -> Outcome.ok(Optional.empty()));
        return tls.then(
                context -> {
                    try {
                        if (context.isEmpty()) {
                            return Outcome.ok(HttpServer.create(address, BACKLOG));
                        }
                        HttpsServer server = HttpsServer.create(address, BACKLOG);
                        server.setHttpsConfigurator(new HttpsConfigurator(context.get()));
                        return Outcome.ok(server);
                    } catch (IOException e) {
                        return cannotListen(config, String.valueOf(e.getMessage()));
                    }
                });
    }

    private static <T> Outcome<T> cannotListen(RestConfig config, String cause) {
        return Outcome.failed(
                StoreCode.RPC_FAIL,
                "REST service cannot listen on %s:%d: %s; choose another address or port"
                        .formatted(config.host(), config.port(), cause));
    }

    /** Reads and answers what has come on one connection; throwing closes it. */
    private void run(Runnable exchange) {
        if (!connections.tryAcquire()) {
            metrics.droppedConnections.increment();
            throw new RejectedExecutionException("too many connections are served already");
        }
        threads.execute(
                () -> {
                    SlowClients.Call call = slow.enter();
                    try {
                        ScopedValue.where(CALL, call).run(exchange);
                    } finally {
                        slow.leave(call);
                        connections.release();
                    }
                });
    }

    private void handle(HttpExchange http) {
        SlowClients.Call call = CALL.get();
        call.goOn();
        long began = clock.nanos();
        RestExchange exchange = new RestExchange(http, call, metrics);
        metrics.began();
        try {
            if (!mayAsk(exchange)) {
                exchange.responseHeader("WWW-Authenticate", "Bearer realm=\"cassia\"");
                exchange.json(
                        HttpStatus.UNAUTHORIZED,
                        Bodies.failure(NO_TOKEN)
                                .put("remedy", "Send the token that the service was given."));
            } else if (requests.tryAcquire()) {
                try {
                    answer(exchange);
                } finally {
                    requests.release();
                }
            } else {
                metrics.busyRefusals.increment();
                exchange.failed(
                        HttpStatus.UNAVAILABLE,
                        StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                        "the service works on as many requests as it may");
            }
        } catch (IOException e) {
            metrics.lostClients.increment();
            LOG.log(
                    Level.DEBUG,
                    "client-lost operation={0} cause={1}",
                    exchange.operation(),
                    String.valueOf(e));
        } finally {
            exchange.end();
            metrics.ended(exchange.operation(), exchange.status(), clock.nanos() - began);
        }
    }

    /** Whoever keeps the service alive need not be let in. */
    private boolean mayAsk(RestExchange exchange) {
        return access.allows(exchange.header("Authorization"))
                || exchange.rawPath().equals("/health");
    }

    /** A defect is answered with 500 unless the answer has begun, which then breaks off. */
    private void answer(RestExchange exchange) throws IOException {
        try {
            endpoints.handle(exchange);
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "request failed operation=" + exchange.operation(), e);
            if (exchange.status() == 0) {
                exchange.failed(
                        HttpStatus.INTERNAL,
                        StoreCode.INTERNAL_ERROR,
                        "a defect of the service; its log has more");
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
        threads.shutdown();
        try {
            if (!threads.awaitTermination(1, TimeUnit.SECONDS)) {
                threads.shutdownNow();
            }
        } catch (InterruptedException e) {
            threads.shutdownNow();
            Thread.currentThread().interrupt();
        }
        slow.close();
    }
}
