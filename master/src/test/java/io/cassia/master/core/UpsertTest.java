package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.B;
import static io.cassia.master.core.Harness.MIB;
import static io.cassia.master.core.Harness.code;
import static io.cassia.master.core.Harness.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CheckedMessages.UpsertStartIf;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaType;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class UpsertTest {
    private final Harness master = new Harness();
    private Segment segment = Harness.segment(1, "", 1, 1);

    @BeforeEach
    void mount() {
        segment = master.mount(A, 11, "node-a:1", 16 * MIB);
    }

    @AfterEach
    void verify() {
        CoreChecks.verify(master.core);
    }

    @Test
    void an_absent_key_is_put() {
        ok(master.upsert(A, "k", 10));
        assertThat(code(master.get("k"))).isEqualTo(StoreCode.REPLICA_IS_NOT_READY);
        ok(master.end(A, "k"));
        assertThat(size(ok(master.get("k")).replicas().getFirst())).isEqualTo(10);
    }

    @Test
    void readers_see_the_old_version_until_the_end_and_then_the_new_one() {
        master.put("k", 10);
        ReplicaDescriptor old = ok(master.get("k")).replicas().getFirst();
        ReplicaDescriptor fresh = ok(master.upsert(B, "k", 10)).getFirst();
        assertThat(address(fresh)).isNotEqualTo(address(old));
        assertThat(ok(master.get("k")).replicas()).containsExactly(old);
        ok(master.end(B, "k", ReplicaType.ALL.number(), OptionalLong.of(9)));
        assertThat(address(ok(master.get("k")).replicas().getFirst())).isEqualTo(address(fresh));
        assertThat(ok(master.get("k")).objectChecksum()).hasValue(9);
        // The old bytes stay while a reader may hold a lease on them.
        assertThat(master.stats().usedBytes()).isEqualTo(20);
        master.run(Duration.ofSeconds(11), A);
        assertThat(master.stats().usedBytes()).isEqualTo(10);
    }

    private Outcome<List<ReplicaDescriptor>> putAgain(Uuid client, String key, long length) {
        return master.apply(
                new Command.UpsertStartIf(
                        new UpsertStartIf(
                                new Args.PutStart(
                                        client,
                                        ByteString.of(key),
                                        length,
                                        ReplicateConfig.DEFAULT,
                                        ByteString.of("default")),
                                UpsertStartIf.NO_VERSION)));
    }

    @Test
    void a_put_that_starts_again_replaces_its_own_unfinished_one_and_nothing_else() {
        ReplicaDescriptor first = ok(master.start(A, "k", 10)).getFirst();
        assertThat(code(putAgain(B, "k", 10))).isEqualTo(code(master.start(B, "k", 10)));
        ReplicaDescriptor again = ok(putAgain(A, "k", 10)).getFirst();
        assertThat(address(again)).as("bytes may still come there").isNotEqualTo(address(first));
        ok(master.end(A, "k"));
        assertThat(code(putAgain(A, "k", 10))).isEqualTo(StoreCode.OBJECT_ALREADY_EXISTS);
        assertThat(address(ok(master.get("k")).replicas().getFirst())).isEqualTo(address(again));
        ok(putAgain(A, "free", 10));
    }

    @Test
    void without_readers_the_old_space_comes_back_at_once() {
        master.put("k", 10);
        ok(master.upsert(A, "k", 30));
        ok(master.end(A, "k"));
        assertThat(master.stats().usedBytes()).isEqualTo(30);
    }

    @Test
    void a_revoked_upsert_leaves_the_old_version() {
        master.put("k", 10);
        ok(master.upsert(B, "k", 20));
        assertThat(code(master.revoke(A, "k"))).isEqualTo(StoreCode.ILLEGAL_CLIENT);
        ok(master.revoke(B, "k"));
        assertThat(size(ok(master.get("k")).replicas().getFirst())).isEqualTo(10);
        assertThat(master.stats().usedBytes()).isEqualTo(10);
        assertThat(code(master.end(B, "k"))).isEqualTo(StoreCode.ILLEGAL_CLIENT);
    }

    @Test
    void an_upsert_that_finds_no_room_takes_nothing_from_the_writer_before() {
        master.put("k", 10);
        ok(master.upsert(B, "k", 20));
        assertThat(code(master.upsert(A, "k", 17 * MIB))).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(size(ok(master.get("k")).replicas().getFirst())).isEqualTo(10);
        ok(master.end(B, "k"));
        assertThat(size(ok(master.get("k")).replicas().getFirst())).isEqualTo(20);
        ok(master.start(B, "first", 10));
        assertThat(code(master.upsert(A, "first", 17 * MIB)))
                .isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        ok(master.end(B, "first"));
        assertThat(size(ok(master.get("first")).replicas().getFirst())).isEqualTo(10);
    }

    @Test
    void an_upsert_that_finds_no_room_is_no_use_of_the_object() {
        master.put("cold", 8 * MIB);
        master.put("warm", 8 * MIB);
        assertThat(code(master.upsert(A, "cold", 17 * MIB)))
                .isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        master.put("new", 8 * MIB);
        assertThat(ok(master.exist("warm"))).isTrue();
        assertThat(ok(master.exist("cold"))).as("still the first to go").isFalse();
    }

    @Test
    void a_failed_upsert_leaves_the_old_version() {
        master.put("k", 10 * MIB);
        assertThat(code(master.upsert(A, "k", 7 * MIB))).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(size(ok(master.get("k")).replicas().getFirst())).isEqualTo(10 * MIB);
    }

    @Test
    void a_later_upsert_preempts_an_earlier_one() {
        master.put("k", 10);
        ok(master.upsert(A, "k", 20));
        ok(master.upsert(B, "k", 40));
        assertThat(code(master.end(A, "k"))).isEqualTo(StoreCode.ILLEGAL_CLIENT);
        ok(master.end(B, "k"));
        assertThat(size(ok(master.get("k")).replicas().getFirst())).isEqualTo(40);
        // The first writer may still be writing.
        assertThat(master.stats().usedBytes()).isEqualTo(60);
        master.run(Duration.ofSeconds(601), A);
        assertThat(master.stats().usedBytes()).isEqualTo(40);
    }

    @Test
    void an_upsert_takes_a_put_in_flight_over_at_once() {
        ok(master.start(A, "k", 10));
        ok(master.upsert(B, "k", 20));
        assertThat(code(master.end(A, "k"))).isEqualTo(StoreCode.ILLEGAL_CLIENT);
        ok(master.end(B, "k"));
        assertThat(master.stats().usedBytes()).isEqualTo(30);
    }

    @Test
    void the_end_of_a_lost_upsert_does_not_pass_for_a_repeated_one() {
        master.put("k", 10);
        ok(master.upsert(A, "k", 20));
        ok(master.upsert(B, "k", 20));
        ok(master.revoke(B, "k"));
        assertThat(code(master.end(A, "k"))).isEqualTo(StoreCode.INVALID_WRITE);

        ok(master.upsert(A, "k", 20));
        master.run(Duration.ofSeconds(601), A);
        assertThat(code(master.end(A, "k"))).isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(size(ok(master.get("k")).replicas().getFirst())).isEqualTo(10);
        ok(master.upsert(A, "k", 20));
        ok(master.end(A, "k"));
        ok(master.end(A, "k"));
    }

    @Test
    void the_old_version_is_not_evicted_for_the_new_one() {
        master.put("k", 9 * MIB);
        master.put("cold", 5 * MIB);
        ok(master.upsert(A, "k", 6 * MIB));
        assertThat(code(master.get("cold"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(size(ok(master.get("k")).replicas().getFirst())).isEqualTo(9 * MIB);
        ok(master.end(A, "k"));
    }

    @Test
    void an_upsert_in_flight_blocks_removal() {
        master.put("k", 10);
        ok(master.upsert(A, "k", 10));
        assertThat(code(master.remove("k", true))).isEqualTo(StoreCode.REPLICA_IS_NOT_READY);
    }

    @Test
    void the_hard_pin_of_either_version_holds() {
        master.put("k", 10, Harness.hardPinned());
        ok(master.upsert(A, "k", 20));
        ok(master.end(A, "k"));
        assertThat(master.stats().pinnedBytes()).isEqualTo(20);
    }

    @Test
    void when_the_old_versions_segment_dies_the_new_one_goes_on_as_a_put() {
        master.put("k", 10);
        master.mount(B, 13, "node-b:1", 16 * MIB);
        ok(
                master.upsert(
                        B, "k", 20, Harness.config(1, 0, OptionalLong.empty(), false, "node-b:1")));
        ok(master.unmount(segment, A));
        assertThat(code(master.get("k"))).isEqualTo(StoreCode.REPLICA_IS_NOT_READY);
        assertThat(code(master.start(A, "k", 1))).isEqualTo(StoreCode.OBJECT_ALREADY_EXISTS);
        ok(master.end(B, "k"));
        assertThat(size(ok(master.get("k")).replicas().getFirst())).isEqualTo(20);
    }

    @Test
    void when_the_new_versions_segment_dies_the_old_one_stays() {
        master.mount(B, 13, "node-b:1", 16 * MIB);
        master.put("k", 10, Harness.config(1, 0, OptionalLong.empty(), false, "node-b:1"));
        ok(
                master.upsert(
                        A, "k", 20, Harness.config(1, 0, OptionalLong.empty(), false, "node-a:1")));
        ok(master.unmount(segment, A));
        assertThat(code(master.end(A, "k"))).isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(size(ok(master.get("k")).replicas().getFirst())).isEqualTo(10);
        assertThat(code(master.end(A, "k"))).isEqualTo(StoreCode.INVALID_WRITE);
    }

    private static long size(ReplicaDescriptor replica) {
        return ((Placement.Memory) replica.placement()).buffer().size();
    }

    private static long address(ReplicaDescriptor replica) {
        return ((Placement.Memory) replica.placement()).buffer().address();
    }

    @Test
    void a_batch_that_stays_on_one_node_follows_the_new_version_of_its_first_item() {
        master.mount(B, 13, "node-b:1", 16 * MIB);
        master.put("first", 10, Harness.config(1, 0, OptionalLong.empty(), false, "node-a:1"));
        ReplicateConfig together =
                new ReplicateConfig(
                        1,
                        0,
                        0,
                        0,
                        OptionalLong.empty(),
                        false,
                        List.of("node-b:1"),
                        "",
                        List.of(),
                        true,
                        0,
                        "",
                        Optional.empty());
        List<Outcome<List<ReplicaDescriptor>>> started =
                master.apply(
                        new Command.BatchUpsertStart(
                                new Args.BatchPutStart(
                                        A,
                                        List.of(Harness.key("first"), Harness.key("second")),
                                        List.of(10L, 10L),
                                        together,
                                        Harness.TENANT)));
        long nodeB = 13L << 32;
        assertThat(address(ok(started.getFirst()).getFirst())).isGreaterThanOrEqualTo(nodeB);
        assertThat(address(ok(started.getLast()).getFirst())).isGreaterThanOrEqualTo(nodeB);
    }
}
