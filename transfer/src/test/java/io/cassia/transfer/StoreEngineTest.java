package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Code;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.testkit.ServiceProcess;
import io.cassia.transfer.metadata.MetadataOptions;
import io.cassia.transfer.metadata.MetadataStore;
import io.cassia.transfer.metadata.MetadataStores;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Engines that find each other through etcd and Redis. */
final class StoreEngineTest {
    private static final Duration LIMIT = Duration.ofSeconds(5);
    private static final MetadataOptions OPTIONS =
            MetadataOptions.DEFAULT.withHeartbeat(Duration.ofMillis(50), Duration.ofSeconds(5));

    @TempDir private Path directory;

    @Test
    void engines_find_each_other_through_etcd() {
        meet("etcd://", ServiceProcess::etcd);
    }

    @Test
    void engines_find_each_other_through_redis() {
        meet("redis://", ServiceProcess::redis);
    }

    private void meet(String scheme, Function<Path, ServiceProcess> program) {
        try (ServiceProcess server = program.apply(directory).start();
                MetadataStore store =
                        MetadataStores.open(scheme + server.address(), OPTIONS)
                                .orThrow()
                                .orElseThrow();
                Arena arena = Arena.ofConfined()) {
            TransferConfig config =
                    TransferConfig.of(scheme + server.address(), "127.0.0.1")
                            .withLocalCopies(false)
                            .withStore(OPTIONS);
            MemorySegment out = arena.allocate(4096);
            Peers.fill(out, 7);
            try (TransferEngine target = Peers.engine(config.withSegmentName("node/a"));
                    TransferEngine initiator = Peers.engine(config)) {
                Region region = target.allocate(4096).orThrow();
                RegisteredBuffer buffer =
                        target.register(region.memory(), BufferOptions.DEFAULT).orThrow();
                write(initiator, "node/a", out, buffer.address());
                assertThat(Peers.crc(region.memory())).isEqualTo(Peers.crc(out));

                server.restartEmpty();
                Peers.eventually("published again", () -> isPresent(store, "mooncake/node/a"));
                try (TransferEngine late = Peers.engine(config)) {
                    Peers.fill(out, 8);
                    write(late, "node/a", out, buffer.address());
                    assertThat(Peers.crc(region.memory())).isEqualTo(Peers.crc(out));
                }
            }
            assertThat(isPresent(store, "mooncake/node/a")).isFalse();
            assertThat(isPresent(store, "mooncake/rpc_meta/node/a")).isFalse();
        }
    }

    private static boolean isPresent(MetadataStore store, String key) {
        return store.find(key, LIMIT) instanceof Outcome.Ok<Optional<String>>(var found)
                && found.isPresent();
    }

    private static void write(
            TransferEngine engine, String segment, MemorySegment from, long address) {
        SegmentHandle handle = engine.openSegment(segment).orThrow();
        assertThat(
                        engine.transfer(
                                List.of(new TransferRequest(Opcode.WRITE, from, handle, address)),
                                Peers.DEADLINE))
                .containsExactly(Outcome.done());
    }

    @Test
    void clusters_of_one_store_do_not_see_each_other() {
        try (ServiceProcess server = ServiceProcess.redis(directory).start()) {
            TransferConfig config = TransferConfig.of("redis://" + server.address(), "127.0.0.1");
            TransferConfig blue = config.withStore(OPTIONS.withCluster("blue"));
            TransferConfig green = config.withStore(OPTIONS.withCluster("green"));
            try (TransferEngine target = Peers.engine(blue.withSegmentName("a"));
                    TransferEngine mate = Peers.engine(blue);
                    TransferEngine stranger = Peers.engine(green)) {
                assertThat(target.localName()).isEqualTo("a");
                assertThat(mate.openSegment("a").isOk()).isTrue();
                assertFailed(stranger.openSegment("a"), TransferCode.ERR_METADATA, "green");
            }
        }
    }

    @Test
    void entries_of_two_starts_of_an_engine_are_not_put_together() {
        try (ServiceProcess server = ServiceProcess.redis(directory).start();
                MetadataStore store =
                        MetadataStores.open("redis://" + server.address(), OPTIONS)
                                .orThrow()
                                .orElseThrow()) {
            // As a restart leaves it that died between its two writes.
            String segment =
                    "{\"buffers\":[],\"incarnation\":1,\"name\":\"torn\",\"protocol\":\"tcp\","
                            + "\"tcp_data_port\":1,\"tcp_proto_version\":2}";
            String engine = "{\"incarnation\":2,\"ip_or_host_name\":\"127.0.0.1\",\"rpc_port\":1}";
            assertThat(store.put("mooncake/ram/torn", segment).isOk()).isTrue();
            assertThat(store.put("mooncake/rpc_meta/torn", engine).isOk()).isTrue();
            TransferConfig config = TransferConfig.of("redis://" + server.address(), "127.0.0.1");
            try (TransferEngine initiator = Peers.engine(config.withStore(OPTIONS))) {
                assertFailed(
                        initiator.openSegment("torn"),
                        TransferCode.ERR_METADATA,
                        "different starts");
                // A peer without incarnations is taken as it is.
                assertThat(
                                store.put(
                                                "mooncake/ram/torn",
                                                segment.replace("\"incarnation\":1,", ""))
                                        .isOk())
                        .isTrue();
                assertThat(initiator.openSegment("torn").isOk()).isTrue();
            }
        }
    }

    private static void assertFailed(Outcome<?> outcome, Code code, String part) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(code);
                            assertThat(failed.detail()).contains(part);
                        });
    }
}
