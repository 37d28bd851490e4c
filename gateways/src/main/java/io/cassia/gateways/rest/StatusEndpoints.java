package io.cassia.gateways.rest;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.store.StoreClient;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Whether the service works, as upstream's HTTP server of a client tells it (spec mooncake-store
 * 12.3). Thread-safe.
 *
 * <pre>
 *   GET /health           200 or 503, {"status": "healthy" | "master_unreachable", "code": 0 | 2}
 *   GET /metrics          Prometheus text
 *   GET /metrics/summary  one line
 * </pre>
 */
final class StatusEndpoints {
    private static final String PROMETHEUS = "text/plain; version=0.0.4";
    private static final int HEALTHY = 0;
    private static final int MASTER_UNREACHABLE = 2;

    /** A probe that takes longer is a no; probes of others come soon. */
    private static final Duration LIMIT = Duration.ofSeconds(2);

    private final StoreClient client;
    private final RestMetrics metrics;
    private final Supplier<String> metricsText;

    StatusEndpoints(StoreClient client, RestMetrics metrics, Supplier<String> metricsText) {
        this.client = client;
        this.metrics = metrics;
        this.metricsText = metricsText;
    }

    void health(RestExchange exchange) throws IOException {
        boolean healthy = masterAnswers();
        exchange.json(
                healthy ? HttpStatus.OK : HttpStatus.UNAVAILABLE,
                Bodies.object()
                        .put("status", healthy ? "healthy" : "master_unreachable")
                        .put("code", healthy ? HEALTHY : MASTER_UNREACHABLE));
    }

    private boolean masterAnswers() {
        CompletableFuture<Outcome<Done>> answer = new CompletableFuture<>();
        Thread.ofVirtual().name("cassia-rest-health").start(() -> answer.complete(client.health()));
        try {
            return answer.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS).isOk();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }

    void metrics(RestExchange exchange) throws IOException {
        exchange.send(HttpStatus.OK, PROMETHEUS, metricsText.get());
    }

    void summary(RestExchange exchange) throws IOException {
        exchange.send(HttpStatus.OK, RestExchange.TEXT, metrics.summary());
    }
}
