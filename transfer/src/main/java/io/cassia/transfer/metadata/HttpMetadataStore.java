package io.cassia.transfer.metadata;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Metadata over HTTP: {@code GET|PUT|DELETE <uri>?key=<percent-encoded key>} (spec 5.7). Guarded by
 * the JDK's client.
 */
public final class HttpMetadataStore implements MetadataStore {
    private static final Duration CONNECT = Duration.ofMillis(1500);
    private static final Duration TOTAL = Duration.ofSeconds(3);
    private static final long MAX_VALUE_BYTES = 128L << 20;

    private final String uri;
    private final Duration total;
    private final HttpClient client;

    private HttpMetadataStore(String uri, Duration connect, Duration total) {
        this.uri = uri;
        this.total = total;
        this.client =
                HttpClient.newBuilder()
                        .version(HttpClient.Version.HTTP_1_1)
                        .connectTimeout(connect)
                        .build();
    }

    /** A client of the server at a URI; ERR_INVALID_ARGUMENT when it is none. No I/O yet. */
    public static Outcome<MetadataStore> open(String uri) {
        return open(uri, CONNECT, TOTAL);
    }

    /** As {@link #open(String)}, with timeouts for connecting and for a whole put or remove. */
    public static Outcome<MetadataStore> open(String uri, Duration connect, Duration total) {
        try {
            URI parsed = URI.create(uri);
            String scheme = parsed.getScheme();
            if (parsed.getHost() != null && ("http".equals(scheme) || "https".equals(scheme))) {
                return Outcome.ok(new HttpMetadataStore(uri, connect, total));
            }
        } catch (IllegalArgumentException e) {
            // Told below, with the text itself.
        }
        return Outcome.failed(
                TransferCode.ERR_INVALID_ARGUMENT,
                "metadata \"" + uri + "\" is neither P2PHANDSHAKE nor http://host:port/path");
    }

    @Override
    public Outcome<Optional<String>> find(String key, Duration timeout) {
        Duration limit = timeout.compareTo(total) < 0 ? timeout : total;
        return send("GET", key, limit, HttpRequest.BodyPublishers.noBody())
                .then(
                        response ->
                                switch (response.statusCode()) {
                                    case 200 -> Outcome.ok(Optional.of(response.body()));
                                    case 404 -> Outcome.ok(Optional.empty());
                                    default -> refused("GET", key, response);
                                });
    }

    @Override
    public Outcome<Done> put(String key, String value) {
        return send("PUT", key, total, HttpRequest.BodyPublishers.ofString(value))
                .then(
                        response ->
                                response.statusCode() == 200
                                        ? Outcome.done()
                                        : refused("PUT", key, response));
    }

    @Override
    public Outcome<Done> remove(String key) {
        return send("DELETE", key, total, HttpRequest.BodyPublishers.noBody())
                .then(
                        response ->
                                response.statusCode() == 200 || response.statusCode() == 404
                                        ? Outcome.done()
                                        : refused("DELETE", key, response));
    }

    private Outcome<HttpResponse<String>> send(
            String method, String key, Duration timeout, HttpRequest.BodyPublisher body) {
        if (timeout.isNegative() || timeout.isZero()) {
            return failed(method + " " + key + ": deadline is over");
        }
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(uri + "?key=" + percentEncoded(key)))
                        .header("Content-Type", "application/json")
                        .method(method, body)
                        .build();
        // The client's own timeout ends with the headers: the body could take for ever.
        CompletableFuture<HttpResponse<String>> running =
                client.sendAsync(
                        request,
                        HttpResponse.BodyHandlers.limiting(
                                HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8),
                                MAX_VALUE_BYTES));
        String attempted = "%s %s at %s: ".formatted(method, key, uri);
        try {
            return Outcome.ok(running.get(timeout.toNanos(), TimeUnit.NANOSECONDS));
        } catch (ExecutionException e) {
            return failed(attempted + e.getCause() + "; is the metadata server up?");
        } catch (TimeoutException e) {
            running.cancel(true);
            return failed(
                    "%sno whole answer within %d ms; is the metadata server up?"
                            .formatted(attempted, timeout.toMillis()));
        } catch (InterruptedException e) {
            running.cancel(true);
            Thread.currentThread().interrupt();
            return failed(attempted + "interrupted");
        }
    }

    private static <T> Outcome<T> failed(String detail) {
        return Outcome.failed(TransferCode.ERR_METADATA, detail);
    }

    private <T> Outcome<T> refused(String method, String key, HttpResponse<String> response) {
        String body = response.body();
        return Outcome.failed(
                TransferCode.ERR_METADATA,
                "%s %s at %s: status %d, %s"
                        .formatted(
                                method,
                                key,
                                uri,
                                response.statusCode(),
                                body.substring(0, Math.min(200, body.length()))));
    }

    /** As in RFC 3986: everything but letters, digits and {@code -._~} becomes %XX. */
    static String percentEncoded(String key) {
        return URLEncoder.encode(key, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("*", "%2A")
                .replace("%7E", "~");
    }

    @Override
    public void close() {
        client.shutdownNow();
        client.close();
    }
}
