package io.cassia.transfer.metadata;

import io.cassia.base.Clock;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

final class HttpMetadataStoreTest extends MetadataStoreKit {
    private int port;

    private final class Server implements Backend {
        private HttpMetadataServer running = listen(0);

        private HttpMetadataServer listen(int on) {
            HttpMetadataServer server =
                    HttpMetadataServer.start(
                                    "127.0.0.1", on, Clock.system(), new SimpleMeterRegistry())
                            .orThrow();
            port = server.port();
            return server;
        }

        @Override
        public String connection() {
            return running.uri();
        }

        @Override
        public void kill() {
            running.close();
        }

        @Override
        public void startEmpty() {
            running = listen(port);
        }

        @Override
        public void close() {
            running.close();
        }
    }

    @Override
    Backend start() {
        return new Server();
    }

    @Override
    String connection(int other) {
        return "http://127.0.0.1:" + other + "/metadata";
    }

    @Override
    String raw(String key) throws Exception {
        URI uri =
                URI.create(
                        connection(port) + "?key=" + key.replace("/", "%2F").replace(":", "%3A"));
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                            HttpRequest.newBuilder(uri).build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
        }
    }

    @Override
    String ending() {
        return "";
    }
}
