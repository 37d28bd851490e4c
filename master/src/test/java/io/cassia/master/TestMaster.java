package io.cassia.master;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.rpc.RpcClient;
import io.cassia.rpc.RpcMethod;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A master on free ports and a client of it. Confined to its test. */
final class TestMaster implements AutoCloseable {
    static final Uuid A = new Uuid(1, 2);
    static final Uuid B = new Uuid(3, 4);
    static final long MIB = 1 << 20;

    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final int ALL = 4;

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final Master master;
    private final RpcClient client;

    private TestMaster(MasterConfig config) {
        master = Master.start(config, Clock.system(), meters, () -> "the metrics\n").orThrow();
        client = RpcClient.builder("127.0.0.1", master.rpcPort(), meters).build();
    }

    static MasterConfig.Builder config() {
        return MasterConfig.builder()
                .rpc("127.0.0.1", 0)
                .http("127.0.0.1", 0)
                .clientTtl(Duration.ofMinutes(10));
    }

    static TestMaster start(MasterConfig.Builder config) {
        return new TestMaster(config.build());
    }

    static TestMaster start() {
        return start(config());
    }

    Master master() {
        return master;
    }

    SimpleMeterRegistry meters() {
        return meters;
    }

    @CanIgnoreReturnValue
    <Q, R> R call(RpcMethod<Q, R> method, Q arguments) {
        return client.call(method, arguments, TIMEOUT).orThrow();
    }

    @CanIgnoreReturnValue
    <Q, T> T ok(RpcMethod<Q, Outcome<T>> method, Q arguments) {
        return call(method, arguments).orThrow();
    }

    static Segment segment(int number, String name, long bytes) {
        return new Segment(
                new Uuid(number, number), name, (long) number << 40, bytes, name, "tcp", "");
    }

    void mount(Uuid owner, Segment... segments) {
        ok(MasterMethods.REMOUNT_SEGMENT, new Args.ReMountSegment(List.of(segments), owner));
    }

    /** One node with 16 MiB. */
    TestMaster mounted() {
        mount(A, segment(11, "node-a:1", 16 * MIB));
        return this;
    }

    void put(String key, long bytes, ReplicateConfig config, String tenant) {
        ByteString name = ByteString.of(key);
        ByteString space = ByteString.of(tenant);
        ok(MasterMethods.PUT_START, new Args.PutStart(A, name, bytes, config, space));
        ok(
                MasterMethods.PUT_END,
                new Args.PutEnd(A, new ObjectMeta(name, OptionalLong.empty()), ALL, space));
    }

    void put(String key, long bytes) {
        put(key, bytes, ReplicateConfig.DEFAULT, "default");
    }

    /** Puts the objects {@code prefix + number}, 1,000 per request. */
    void putMany(String prefix, int from, int to, long bytes) {
        for (int at = from; at < to; at += 1000) {
            List<ByteString> keys = new ArrayList<>();
            List<ObjectMeta> metas = new ArrayList<>();
            List<Long> lengths = new ArrayList<>();
            for (int i = at; i < Math.min(to, at + 1000); i++) {
                keys.add(ByteString.of(prefix + i));
                metas.add(new ObjectMeta(keys.getLast(), OptionalLong.empty()));
                lengths.add(bytes);
            }
            ByteString tenant = ByteString.of("default");
            call(
                            MasterMethods.BATCH_PUT_START,
                            new Args.BatchPutStart(
                                    A, keys, lengths, ReplicateConfig.DEFAULT, tenant))
                    .forEach(Outcome::orThrow);
            call(MasterMethods.BATCH_PUT_END, new Args.BatchPutEnd(A, metas, ALL, tenant))
                    .forEach(Outcome::orThrow);
        }
    }

    HttpResponse<String> http(String method, String path, String body)
            throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + master.httpPort() + path);
        return HTTP.send(
                HttpRequest.newBuilder(uri)
                        .method(method, HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return http("GET", path, "");
    }

    static JsonNode json(HttpResponse<String> response) {
        return JsonMapper.shared().readTree(response.body());
    }

    @Override
    public void close() {
        client.close();
        master.close();
    }
}
