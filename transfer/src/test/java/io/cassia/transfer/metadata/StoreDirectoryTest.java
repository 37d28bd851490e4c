package io.cassia.transfer.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.base.HostPort;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

final class StoreDirectoryTest {
    /** A map. Guarded: concurrent map. */
    private static final class MapStore implements MetadataStore {
        final Map<String, String> map = new ConcurrentHashMap<>();

        @Override
        public Outcome<Optional<String>> find(String key, Duration timeout) {
            return Outcome.ok(Optional.ofNullable(map.get(key)));
        }

        @Override
        public Outcome<Done> put(String key, String value) {
            map.put(key, value);
            return Outcome.done();
        }

        @Override
        public Outcome<Done> remove(String key) {
            map.remove(key);
            return Outcome.done();
        }

        @Override
        public void close() {}
    }

    private static final String SEGMENT = "mooncake/ram/n";
    private static final String ENDPOINT = "mooncake/rpc_meta/n";
    private static final String DESCRIPTOR =
            DescriptorCodec.encode(SegmentDescriptor.tcp("n", 5, List.of()), "t");

    private final MapStore store = new MapStore();

    private StoreDirectory directory() {
        return new StoreDirectory(
                store,
                MetadataOptions.DEFAULT,
                "n",
                new RpcMeta("h", 7, OptionalLong.of(1)),
                () -> DESCRIPTOR,
                Clock.system(),
                new SimpleMeterRegistry());
    }

    private static long soon() {
        return Clock.system().nanos() + Duration.ofSeconds(10).toNanos();
    }

    @Test
    void what_is_published_is_found_and_withdrawn() {
        StoreDirectory directory = directory();
        assertThat(store.map).isEmpty();
        assertThat(directory.publish().isOk()).isTrue();
        assertThat(store.map).containsOnlyKeys(SEGMENT, ENDPOINT);
        PeerDirectory.Peer peer = directory.find("n", soon()).orThrow();
        assertThat(peer.rpc()).isEqualTo(new HostPort("h", 7));
        assertThat(peer.descriptor().tcpDataPort()).isEqualTo(5);
        store.map.remove(ENDPOINT);
        assertThat(directory.find("n", soon()))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(TransferCode.ERR_METADATA);
                            assertThat(failed.detail()).contains(ENDPOINT);
                        });
        assertThat(directory.publish().isOk()).isTrue();
        directory.close();
        assertThat(store.map).isEmpty();
        assertThat(directory.publish().isOk()).isFalse();
    }
}
