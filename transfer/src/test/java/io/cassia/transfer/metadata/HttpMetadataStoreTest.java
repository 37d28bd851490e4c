package io.cassia.transfer.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

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

    @Test
    void a_server_that_stops_within_its_answer_is_given_up_in_time() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                MetadataStore store =
                        HttpMetadataStore.open(connection(listener.getLocalPort())).orThrow()) {
            CompletableFuture<Outcome<Optional<String>>> found =
                    CompletableFuture.supplyAsync(
                            () -> store.find("mooncake/ram/half", Duration.ofSeconds(1)));
            try (Socket server = listener.accept()) {
                byte[] half =
                        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"
                                .getBytes(StandardCharsets.US_ASCII);
                server.getOutputStream().write(half);
                assertThat(found.get(20, TimeUnit.SECONDS))
                        .isInstanceOfSatisfying(
                                Outcome.Failed.class,
                                failed -> {
                                    assertThat(failed.code()).isEqualTo(TransferCode.ERR_METADATA);
                                    assertThat(failed.detail()).contains("mooncake/ram/half");
                                });
            }
        }
    }
}
