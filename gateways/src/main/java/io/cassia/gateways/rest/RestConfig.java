package io.cassia.gateways.rest;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * What the REST service listens on and how much it takes on. Immutable.
 *
 * @param host address to listen on
 * @param port 0 takes a free one
 * @param bufferBytes memory for the bodies of all requests in flight; also the longest body of a
 *     put, and what a get of a larger object is cut into pieces by
 * @param maxRequests requests that are worked on at once; more are refused with 503
 * @param patience how long a client may neither send nor take a byte, and how long a request waits
 *     for buffers
 * @param access who may ask
 * @param lendsFrom directories whose files requests may have lent
 */
public record RestConfig(
        String host,
        int port,
        long bufferBytes,
        int maxRequests,
        Duration patience,
        RestAccess access,
        List<Path> lendsFrom) {
    /** Upstream's port of the HTTP server of a client (spec mooncake-store 12.3). */
    public static final int PORT = 9300;

    public static final RestConfig DEFAULT =
            new RestConfig("127.0.0.1", PORT, 256L << 20, 64, Duration.ofSeconds(30));

    public RestConfig {
        if (bufferBytes < 1 || maxRequests < 1 || patience.isNegative() || patience.isZero()) {
            throw new IllegalArgumentException(
                    bufferBytes + " bytes, " + maxRequests + " requests, patience " + patience);
        }
        lendsFrom = List.copyOf(lendsFrom);
    }

    /** For everybody, and what is in shared memory. */
    public RestConfig(String host, int port, long bufferBytes, int maxRequests, Duration patience) {
        this(
                host,
                port,
                bufferBytes,
                maxRequests,
                patience,
                RestAccess.OPEN,
                List.of(LendableFiles.SHARED_MEMORY));
    }

    public RestConfig listeningOn(String newHost, int newPort) {
        return new RestConfig(
                newHost, newPort, bufferBytes, maxRequests, patience, access, lendsFrom);
    }

    public RestConfig withAccess(RestAccess value) {
        return new RestConfig(host, port, bufferBytes, maxRequests, patience, value, lendsFrom);
    }

    public RestConfig lendingFrom(List<Path> directories) {
        return new RestConfig(host, port, bufferBytes, maxRequests, patience, access, directories);
    }

    /** {@code http} or {@code https}. */
    public String scheme() {
        return access.keyStore().isPresent() ? "https" : "http";
    }
}
