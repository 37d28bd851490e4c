package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.B;
import static io.cassia.master.core.Harness.KIB;
import static io.cassia.master.core.Harness.TENANT;
import static io.cassia.master.core.Harness.code;
import static io.cassia.master.core.Harness.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.ClientInfo;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.KeyShard;
import io.cassia.rpc.cassia.CassiaMessages.ListShard;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Limits that the master has of its own, and answers for those who look after it. */
class LimitsTest {
    private Harness master = new Harness();

    @AfterEach
    void verify() {
        CoreChecks.verify(master.core);
    }

    @Test
    void the_number_of_objects_is_a_limit_like_their_bytes() {
        master =
                new Harness(
                        settings -> {
                            settings.maxObjects = 3;
                            return settings;
                        });
        master.mount(A, 11, "n", 64 * KIB);
        for (String key : List.of("a", "b", "c")) {
            master.put(key, 1);
        }
        ok(master.get("a"));
        master.put("d", 1);
        assertThat(ok(master.exist("b"))).as("the coldest").isFalse();
        assertThat(ok(master.exist("a"))).isTrue();
        for (String key : List.of("a", "c", "d")) {
            ok(master.get(key));
        }
        Outcome<?> full = master.start(A, "e", 1);
        assertThat(code(full)).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(Harness.detail(full)).contains("objects=3, which is the limit");
        ok(master.upsert(A, "a", 1));
        assertThat(ok(master.exist("c"))).as("a new version is not one more object").isTrue();
        assertThat(
                        ok(master.apply(new Command.Explain(Harness.key("b"), TENANT)))
                                .decisions()
                                .getFirst()
                                .what())
                .isEqualTo("evicted-for-count");
    }

    @Test
    void all_replicas_or_none_if_the_master_is_set_up_so() {
        master =
                new Harness(
                        settings -> {
                            settings.allReplicas = true;
                            return settings;
                        });
        master.mount(A, 11, "n", 64 * KIB);
        assertThat(code(master.start(A, "k", KIB, Harness.replicas(2))))
                .isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(master.stats().usedBytes()).isZero();
        master.mount(B, 13, "m", 64 * KIB);
        ok(master.start(A, "k", KIB, Harness.replicas(2)));
    }

    @Test
    void a_key_that_is_too_long_is_not_stored() {
        master.mount(A, 11, "n", 64 * KIB);
        Args.PutStart put =
                new Args.PutStart(
                        A, ByteString.wrap(new byte[65_536]), 1, ReplicateConfig.DEFAULT, TENANT);
        assertThat(code(master.apply(new Command.PutStart(put)))).isEqualTo(StoreCode.INVALID_KEY);
    }

    @Test
    void a_full_pool_tells_the_log_why_but_not_each_time() {
        master.mount(A, 11, "n", 4 * KIB);
        master.put("pinned", 4 * KIB, Harness.hardPinned());
        for (int i = 0; i < 50; i++) {
            assertThat(code(master.start(A, "k" + i, KIB)))
                    .isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        }
        assertThat(master.core.takeEffects())
                .filteredOn(effect -> effect instanceof Effect.EvictionFruitless)
                .singleElement()
                .satisfies(effect -> assertThat(effect.toString()).contains("hard-pinned=4096"));
        assertThat(master.core.counters().of(CoreCount.EVICTIONS_FRUITLESS)).isEqualTo(50);
        master.sleep(Duration.ofSeconds(11));
        ok(master.ping(A));
        assertThat(code(master.start(A, "k", KIB))).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(master.core.takeEffects())
                .anyMatch(
                        effect ->
                                effect instanceof Effect.EvictionFruitless(long times, _)
                                        && times == 50);
    }

    @Test
    void ssd_free_ratio_first_falls_back_to_the_ratio_of_memory() {
        master =
                new Harness(
                        settings -> {
                            settings.strategy = AllocationStrategy.SSD_FREE_RATIO_FIRST;
                            return settings;
                        });
        master.mount(A, 11, "n", 64 * KIB);
        master.put("filler", 32 * KIB);
        master.mount(B, 13, "m", 64 * KIB);
        for (int i = 0; i < 16; i++) {
            assertThat(ok(master.start(A, "k" + i, KIB)).toString()).contains(":1013");
        }
    }

    private Outcome<Done> mount(Segment segment, Uuid client) {
        return master.apply(new Command.MountSegment(new Args.MountSegment(segment, client)));
    }

    @Test
    void a_segment_id_that_somebody_else_has_is_told_apart_from_a_repeated_mount() {
        Segment segment = Harness.segment(11, "n", 1L << 32, KIB);
        ok(mount(segment, A));
        ok(mount(segment, A));
        assertThat(code(mount(segment, B))).isEqualTo(StoreCode.SEGMENT_ALREADY_EXISTS);
        assertThat(code(mount(Harness.segment(11, "n", 1L << 32, 2 * KIB), A)))
                .isEqualTo(StoreCode.SEGMENT_ALREADY_EXISTS);
    }

    private Outcome<List<ClientInfo>> clients(Uuid id) {
        return master.apply(new Command.Clients(id));
    }

    @Test
    void clients_are_listed_with_their_state() {
        master.mount(A, 11, "n", KIB);
        ok(master.ping(B));
        assertThat(ok(clients(A))).containsExactly(new ClientInfo(A, 1, 0, List.of("n")));
        assertThat(ok(clients(B))).containsExactly(new ClientInfo(B, 2, 0, List.of()));
        assertThat(ok(clients(new Uuid(0, 0)))).hasSize(2);
        assertThat(code(clients(new Uuid(9, 9)))).isEqualTo(StoreCode.CLIENT_NOT_FOUND);
        master.run(Duration.ofSeconds(11));
        assertThat(ok(clients(A)).getFirst().state()).isEqualTo(3);
        assertThat(code(clients(B))).as("nothing to keep").isEqualTo(StoreCode.CLIENT_NOT_FOUND);
    }

    @Test
    void shards_together_hold_each_key_once() {
        master.mount(A, 11, "n", 64 * KIB);
        for (int i = 0; i < 2000; i++) {
            master.put("k" + i, 1);
        }
        Set<ByteString> seen = new HashSet<>();
        long shards = 1;
        for (long shard = 0; shard < shards; shard++) {
            KeyShard part = ok(master.apply(new Command.ListShard(new ListShard(shard, TENANT))));
            shards = part.shards();
            for (KeyInfo key : part.keys()) {
                assertThat(seen.add(key.key())).isTrue();
            }
        }
        assertThat(seen).hasSize(2000);
        assertThat(code(master.apply(new Command.ListShard(new ListShard(shards, TENANT)))))
                .isEqualTo(StoreCode.SHARD_INDEX_OUT_OF_RANGE);
        assertThat(code(master.apply(new Command.ListShard(new ListShard(-1, TENANT)))))
                .isEqualTo(StoreCode.SHARD_INDEX_OUT_OF_RANGE);
    }

    private Outcome<Done> end(String key, long put) {
        return master.apply(
                new Command.PutEnd(
                        new Args.PutEnd(
                                A,
                                new ObjectMeta(Harness.key(key), OptionalLong.empty()),
                                4,
                                TENANT),
                        put));
    }

    @Test
    void an_end_names_its_put_also_when_the_first_replica_is_gone() {
        Segment first = master.mount(A, 11, "n", 64 * KIB);
        master.mount(B, 13, "m", 64 * KIB);
        long put =
                ok(master.start(
                                A,
                                "k",
                                KIB,
                                Harness.config(2, 0, OptionalLong.empty(), false, "n")))
                        .getFirst()
                        .id();
        ok(master.unmount(first, A));
        assertThat(code(end("k", put + 1))).isEqualTo(StoreCode.INVALID_WRITE);
        ok(end("k", put));
        ok(end("k", put));
        long upsert = ok(master.upsert(A, "k", KIB)).getFirst().id();
        assertThat(code(end("k", put))).as("of before").isEqualTo(StoreCode.INVALID_WRITE);
        ok(end("k", upsert));
        assertThat(code(end("k", put))).isEqualTo(StoreCode.INVALID_WRITE);
        ok(end("k", upsert));
    }

    /** Time as people set it plays no part, and time that goes back counts as standing still. */
    @Test
    void a_clock_that_steps_ends_nothing_early_and_makes_nothing_immortal() {
        master.mount(A, 11, "n", 64 * KIB);
        master.put("k", KIB, Harness.softPinned(60_000));
        ok(master.get("k"));
        long lease = master.acquire(false, 0, "k").leaseId();
        ok(master.start(A, "flight", KIB));
        master.now -= Duration.ofHours(1).toNanos();
        master.apply(new Command.Tick());
        assertThat(code(master.remove("k", false))).isEqualTo(StoreCode.OBJECT_HAS_LEASE);
        assertThat(ok(master.ping(A)).clientStatus()).isEqualTo(1);
        master.now += Duration.ofHours(1).toNanos();
        master.run(Duration.ofSeconds(9), A);
        assertThat(code(master.remove("k", false))).isEqualTo(StoreCode.OBJECT_HAS_LEASE);
        assertThat(master.stats().leasedBytes()).isEqualTo(KIB);
        master.run(Duration.ofSeconds(2), A);
        assertThat(master.stats().leasedBytes()).as("over, though never released").isZero();
        master.release(lease);
        assertThat(code(master.start(B, "flight", KIB))).isEqualTo(StoreCode.OBJECT_ALREADY_EXISTS);
        master.run(Duration.ofSeconds(20), A);
        ok(master.start(B, "flight", KIB));
        ok(master.remove("k", false));
    }
}
