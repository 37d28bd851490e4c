package io.cassia.master.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
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

    private final HttpServer server;
    private final ExecutorService threads;

    private AdminServer(HttpServer server, ExecutorService threads) {
        this.server = server;
        this.threads = threads;
    }

    /**
     * Starts serving; RPC_FAIL says which address cannot be listened on and why.
     *
     * @param port 0 takes a free one
     * @param metricsText body of {@code /metrics}
     */
    public static Outcome<AdminServer> start(
            String host, int port, AdminQueries queries, Supplier<String> metricsText) {
        InetSocketAddress address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            return cannotListen(host, port, "the host name does not resolve");
        }
        try {
            HttpServer server = HttpServer.create(address, BACKLOG);
            ExecutorService threads =
                    Executors.newThreadPerTaskExecutor(
                            Thread.ofVirtual().name("cassia-admin-", 0).factory());
            server.setExecutor(threads);
            AdminEndpoints endpoints = new AdminEndpoints(queries, metricsText);
            server.createContext("/", exchange -> serve(endpoints, exchange));
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

    private static void serve(AdminEndpoints endpoints, HttpExchange exchange) throws IOException {
        try (exchange) {
            endpoints.handle(exchange);
        } catch (RuntimeException e) {
            LOG.log(
                    System.Logger.Level.ERROR,
                    "admin request failed " + exchange.getRequestURI(),
                    e);
            byte[] body = "internal error\n".getBytes(StandardCharsets.UTF_8);
            if (exchange.getResponseCode() == -1) {
                exchange.sendResponseHeaders(500, body.length);
                exchange.getResponseBody().write(body);
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
    }
}
