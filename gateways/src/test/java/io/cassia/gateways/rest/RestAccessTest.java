package io.cassia.gateways.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.testkit.KeyFiles;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Arrays;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A REST service that is not for everybody. */
class RestAccessTest {
    private static final String TOKEN = "sixteen characters and more";

    @TempDir private Path directory;

    @Test
    void requests_without_the_token_are_refused_and_health_is_told() throws Exception {
        RestAccess access = new RestAccess(Optional.empty(), "", TOKEN);
        try (RestCluster cluster =
                RestCluster.start(RestConfig.DEFAULT.withAccess(access), 16 << 20)) {
            for (String[] headers :
                    new String[][] {
                        {},
                        {"Authorization", TOKEN},
                        {"Authorization", "Basic " + TOKEN},
                        {"Authorization", "Bearer " + TOKEN + "x"}
                    }) {
                HttpResponse<byte[]> refused = cluster.get("/api/exist/k", headers);
                assertThat(refused.statusCode()).isEqualTo(401);
                assertThat(refused.headers().firstValue("WWW-Authenticate"))
                        .contains("Bearer realm=\"cassia\"");
                assertThat(RestCluster.json(refused).get("name").asString())
                        .isEqualTo("ILLEGAL_CLIENT");
                assertThat(RestCluster.json(refused).get("remedy").asString()).contains("token");
                assertThat(cluster.get("/metrics", headers).statusCode()).isEqualTo(401);
            }
            HttpRequest.Builder put =
                    cluster.request("/api/put/k").PUT(BodyPublishers.ofByteArray(new byte[100]));
            assertThat(cluster.send(put).statusCode()).isEqualTo(401);
            String[] member = {"Authorization", "Bearer " + TOKEN};
            assertThat(RestCluster.text(cluster.get("/api/exist/k", member)))
                    .isEqualTo("{\"exists\":false}");
            assertThat(cluster.get("/health").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void with_a_key_store_it_speaks_https_and_nothing_else() throws Exception {
        Path keys = KeyFiles.make(directory, "rest", "ip:127.0.0.1");
        RestAccess access = new RestAccess(Optional.of(keys), KeyFiles.PASSWORD, TOKEN);
        byte[] value = new byte[3_000_000];
        Arrays.fill(value, (byte) 5);
        try (RestCluster cluster =
                        RestCluster.start(RestConfig.DEFAULT.withAccess(access), 16 << 20);
                HttpClient trusting = HttpClient.newBuilder().sslContext(trust(keys)).build();
                HttpClient strange = HttpClient.newHttpClient()) {
            URI address = URI.create("https://127.0.0.1:" + cluster.port());
            HttpRequest.Builder request =
                    HttpRequest.newBuilder().header("Authorization", "Bearer " + TOKEN);
            HttpRequest put =
                    request.uri(address.resolve("/api/put/k"))
                            .PUT(BodyPublishers.ofByteArray(value))
                            .build();
            assertThat(trusting.send(put, BodyHandlers.discarding()).statusCode()).isEqualTo(200);
            HttpRequest get = request.uri(address.resolve("/api/get/k")).GET().build();
            assertThat(trusting.send(get, BodyHandlers.ofByteArray()).body()).isEqualTo(value);
            assertThatThrownBy(() -> strange.send(get, BodyHandlers.discarding()))
                    .isInstanceOf(SSLHandshakeException.class);
            assertThatThrownBy(() -> cluster.get("/health"))
                    .isInstanceOf(java.io.IOException.class);
        }
    }

    private static SSLContext trust(Path keys) throws Exception {
        TrustManagerFactory managers =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(KeyStore.getInstance(keys.toFile(), KeyFiles.PASSWORD.toCharArray()));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }

    @Test
    void key_store_that_does_not_open_and_short_token_are_told() throws Exception {
        Path keys = KeyFiles.make(directory, "rest", "ip:127.0.0.1");
        assertThat(RestAccess.tls(keys, "wrong"))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(StoreCode.INVALID_PARAMS);
                            assertThat(failed.detail()).contains(keys.toString(), "password");
                        });
        assertThatThrownBy(() -> new RestAccess(Optional.empty(), "", "short"))
                .hasMessageContaining("16 characters");
        assertThat(new RestAccess(Optional.of(keys), "pass", TOKEN).toString())
                .doesNotContain("pass,", TOKEN);
    }
}
