package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Nodes that copy and move, and a byte in their memory that has changed. */
class ReplicaCopiesTest {
    private static final ByteString KEY = ByteString.of("k");

    /** More than one window of a copy from elsewhere, and no whole number of chunks. */
    private static final byte[] VALUE = value();

    private final Cluster cluster = Cluster.start();
    private final StorageNode first = cluster.node(32 << 20);
    private final StorageNode second = cluster.node(32 << 20);
    private final StorageNode third = cluster.node(32 << 20);
    private final StoreClient client = cluster.client();

    @AfterEach
    void stop() {
        cluster.close();
    }

    private static byte[] value() {
        byte[] bytes = new byte[(9 << 20) + 77];
        new Random(1).nextBytes(bytes);
        return bytes;
    }

    private void put(StorageNode... nodes) {
        List<String> names = List.of(nodes).stream().map(StorageNode::endpoint).toList();
        client.put(KEY, VALUE, PutOptions.DEFAULT.withReplicas(nodes.length).withPreferred(names))
                .orThrow();
        assertThat(endpoints()).containsExactlyInAnyOrderElementsOf(names);
    }

    private List<String> endpoints() {
        return client.replicas(KEY).orThrow().stream().map(ReplicaCopiesTest::endpoint).toList();
    }

    private static String endpoint(ReplicaDescriptor replica) {
        return ReadItem.buffer(replica).transportEndpoint();
    }

    /** Flips a bit of the last byte, as a broken DIMM would. */
    private void damage(StorageNode node) {
        for (ReplicaDescriptor replica : client.replicas(KEY).orThrow()) {
            if (endpoint(replica).equals(node.endpoint())) {
                long last = ReadItem.buffer(replica).address() + VALUE.length - 1;
                MemorySegment there = MemorySegment.ofAddress(last).reinterpret(1);
                byte old = there.get(ValueLayout.JAVA_BYTE, 0);
                there.set(ValueLayout.JAVA_BYTE, 0, (byte) (old ^ 4));
            }
        }
    }

    private static Code code(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed ? failed.code() : StoreCode.OK;
    }

    @Test
    void wrong_byte_is_not_copied_and_the_replica_leaves_service() {
        put(first);
        damage(first);
        Outcome<Done> copied =
                client.awaitTask(client.copy(KEY, List.of(second.endpoint())).orThrow());
        assertThat(code(copied)).isEqualTo(StoreCode.CHECKSUM_MISMATCH);
        assertThat(((Outcome.Failed<Done>) copied).detail())
                .contains(first.endpoint(), "the 64 KiB at 9437184", "not copied");
        assertThat(code(client.replicas(KEY))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
    }

    @Test
    void wrong_byte_is_not_moved_and_the_replica_leaves_service() {
        put(first);
        damage(first);
        Outcome<Done> moved =
                client.awaitTask(client.move(KEY, first.endpoint(), second.endpoint()).orThrow());
        assertThat(code(moved)).isEqualTo(StoreCode.CHECKSUM_MISMATCH);
        assertThat(code(client.replicas(KEY))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
    }

    @Test
    void move_of_a_wrong_replica_is_made_from_the_right_one() {
        put(first, second);
        damage(first);
        client.awaitTask(client.move(KEY, first.endpoint(), third.endpoint()).orThrow()).orThrow();
        assertThat(endpoints()).containsExactlyInAnyOrder(second.endpoint(), third.endpoint());
        assertReplicasAreRight();
    }

    @Test
    void copy_is_made_from_the_right_replica() {
        put(first, second);
        damage(first);
        client.awaitTask(client.copy(KEY, List.of(third.endpoint())).orThrow()).orThrow();
        // Which of the two was asked is the master's choice.
        assertThat(endpoints()).contains(second.endpoint(), third.endpoint());
        assertThat(client.getBytes(KEY).orThrow()).isEqualTo(VALUE);
    }

    @Test
    void drained_node_does_not_spread_what_is_wrong() {
        put(first, second);
        damage(first);
        assertThat(first.drain(Duration.ofSeconds(30))).isEqualTo(Outcome.done());
        assertThat(endpoints()).contains(second.endpoint()).doesNotContain(first.endpoint());
        assertReplicasAreRight();
    }

    /** Each by itself, past the readers' proof. */
    private void assertReplicasAreRight() {
        for (ReplicaDescriptor replica : client.replicas(KEY).orThrow()) {
            MemorySegment there =
                    MemorySegment.ofAddress(ReadItem.buffer(replica).address())
                            .reinterpret(VALUE.length);
            assertThat(there.mismatch(MemorySegment.ofArray(VALUE)))
                    .as(endpoint(replica))
                    .isEqualTo(-1);
        }
    }
}
