package io.cassia.transfer.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class StoreDirectoryTest {
    /** A map; it can lose everything, and refuse endpoints. Guarded: concurrent map. */
    private static final class MapStore implements MetadataStore {
        final Map<String, String> map = new ConcurrentHashMap<>();
        volatile boolean refusing;
        volatile CountDownLatch written = new CountDownLatch(0);

        @Override
        public Outcome<Optional<String>> find(String key, Duration timeout) {
            return Outcome.ok(Optional.ofNullable(map.get(key)));
        }

        @Override
        public Outcome<Done> put(String key, String value) {
            if (refusing && key.contains(MetadataKeys.RPC_META)) {
                written.countDown();
                return Outcome.failed(TransferCode.ERR_METADATA, "taken");
            }
            map.put(key, value);
            if (!key.contains(MetadataKeys.RPC_META)) {
                written.countDown();
            }
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

    private StoreDirectory directory(Duration refresh) {
        return new StoreDirectory(
                store,
                "",
                "n",
                new RpcMeta("h", 7, OptionalLong.of(1)),
                () -> DESCRIPTOR,
                refresh,
                Clock.system());
    }

    private static long soon() {
        return Clock.system().nanos() + Duration.ofSeconds(10).toNanos();
    }

    @Test
    void what_is_published_is_found_and_withdrawn() {
        StoreDirectory directory = directory(StoreDirectory.REFRESH);
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

    @Test
    void a_store_that_lost_everything_is_filled_again() throws Exception {
        StoreDirectory directory = directory(Duration.ofMillis(5));
        assertThat(directory.publish().isOk()).isTrue();
        store.map.clear();
        store.written = new CountDownLatch(1);
        assertThat(store.written.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(store.map).containsKeys(SEGMENT, ENDPOINT);
        directory.close();
        assertThat(store.map).isEmpty();
    }

    @Test
    void a_name_that_somebody_else_has_taken_is_left_to_him() throws Exception {
        StoreDirectory directory = directory(Duration.ofMillis(5));
        assertThat(directory.publish().isOk()).isTrue();
        store.refusing = true;
        store.map.put(ENDPOINT, "his");
        store.map.put(SEGMENT, "his");
        store.written = new CountDownLatch(2);
        assertThat(store.written.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(directory.publish().isOk()).isFalse();
        directory.close();
        assertThat(store.map).containsEntry(SEGMENT, "his").containsEntry(ENDPOINT, "his");
    }
}
