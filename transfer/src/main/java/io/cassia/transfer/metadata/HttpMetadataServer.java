package io.cassia.transfer.metadata;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.MeterRegistry;

/** The metadata store over HTTP that engines publish to, in memory. Guarded. */
@SuppressWarnings("DoNotCallSuggester")
public final class HttpMetadataServer implements AutoCloseable {
    private HttpMetadataServer() {}

    /** Listens; port 0 takes any free one. ERR_SOCKET when it cannot, ERR_DNS for the host. */
    public static Outcome<HttpMetadataServer> start(
            String host, int port, Clock clock, MeterRegistry meters) {
        throw new UnsupportedOperationException();
    }

    public int port() {
        throw new UnsupportedOperationException();
    }

    /** What engines are given as metadata: {@code http://host:port/metadata}. */
    public String uri() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
