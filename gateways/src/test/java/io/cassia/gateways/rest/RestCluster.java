package io.cassia.gateways.rest;

import io.cassia.base.Clock;
import io.cassia.master.Master;
import io.cassia.master.MasterConfig;
import io.cassia.store.NodeConfig;
import io.cassia.store.StorageNode;
import io.cassia.store.StoreClient;
import io.cassia.store.StoreClientConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A master, a node and the REST service in this process. Confined to its test. */
final class RestCluster implements AutoCloseable {
    final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    final Master master;
    final StoreClient client;
    final RestServer rest;
    private final StorageNode node;
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private RestCluster(RestConfig config, long nodeBytes, Duration deadline) {
        master =
                Master.start(
                                MasterConfig.builder().rpc("127.0.0.1", 0).httpOff().build(),
                                Clock.system(),
                                new SimpleMeterRegistry(),
                                () -> "")
                        .orThrow();
        String address = "127.0.0.1:" + master.rpcPort();
        node =
                StorageNode.start(
                                new NodeConfig(
                                        address, StoreClientConfig.P2P, "127.0.0.1", nodeBytes),
                                Clock.system(),
                                new SimpleMeterRegistry())
                        .orThrow();
        client =
                StoreClient.connect(
                                new StoreClientConfig(
                                        address,
                                        StoreClientConfig.P2P,
                                        "127.0.0.1",
                                        "default",
                                        deadline),
                                Clock.system(),
                                meters)
                        .orThrow();
        rest =
                RestServer.start(
                                config.listeningOn("127.0.0.1", 0),
                                client,
                                new NodeSegments(node),
                                Clock.system(),
                                meters,
                                meters::getMetersAsString)
                        .orThrow();
    }

    static RestCluster start() {
        return start(RestConfig.DEFAULT, 64L << 20);
    }

    static RestCluster start(RestConfig config, long nodeBytes) {
        return new RestCluster(config, nodeBytes, Duration.ofSeconds(10));
    }

    int port() {
        return rest.port();
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + rest.port() + path))
                .timeout(Duration.ofSeconds(30));
    }

    HttpResponse<byte[]> send(HttpRequest.Builder request) throws Exception {
        return http.send(request.build(), BodyHandlers.ofByteArray());
    }

    HttpResponse<byte[]> get(String path, String... headers) throws Exception {
        HttpRequest.Builder request = request(path);
        return send(headers.length == 0 ? request : request.headers(headers));
    }

    HttpResponse<byte[]> put(String path, byte[] body) throws Exception {
        return put(path, BodyPublishers.ofByteArray(body));
    }

    HttpResponse<byte[]> put(String path, BodyPublisher body) throws Exception {
        return send(request(path).PUT(body));
    }

    HttpResponse<byte[]> putJson(String path, String json) throws Exception {
        return send(request(path).PUT(BodyPublishers.ofString(json)));
    }

    HttpResponse<byte[]> post(String path, String json) throws Exception {
        return send(request(path).POST(BodyPublishers.ofString(json)));
    }

    HttpResponse<byte[]> delete(String path) throws Exception {
        return send(request(path).DELETE());
    }

    static JsonNode json(HttpResponse<byte[]> response) {
        return JsonMapper.shared().readTree(response.body());
    }

    static String text(HttpResponse<byte[]> response) {
        return new String(response.body(), StandardCharsets.UTF_8);
    }

    double count(String counter) {
        return meters.get(counter).counter().count();
    }

    List<String> meterNames() {
        return meters.getMeters().stream().map(meter -> meter.getId().getName()).toList();
    }

    @Override
    public void close() {
        rest.close();
        client.close();
        node.close();
        master.close();
    }
}
