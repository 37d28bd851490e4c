package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.B;
import static io.cassia.master.core.Harness.MIB;
import static io.cassia.master.core.Harness.code;
import static io.cassia.master.core.Harness.detail;
import static io.cassia.master.core.Harness.key;
import static io.cassia.master.core.Harness.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.rpc.cassia.CassiaMessages.Acquired;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LeaseTest {
    private final Harness master = new Harness();

    @BeforeEach
    void mount() {
        master.mount(A, 11, "node-a:1", 16 * MIB);
        master.put("k", MIB);
    }

    @Test
    void a_put_alone_gives_no_lease() {
        assertThat(code(master.remove("k", false))).isEqualTo(StoreCode.OK);
    }

    @Test
    void a_read_lease_protects_from_removal_until_it_ends() {
        ok(master.get("k"));
        assertThat(code(master.remove("k", false))).isEqualTo(StoreCode.OBJECT_HAS_LEASE);
        master.run(Duration.ofMillis(9_999), A);
        assertThat(detail(master.remove("k", false))).contains("up to 1 ms");
        master.run(Duration.ofMillis(1), A);
        assertThat(code(master.remove("k", false))).isEqualTo(StoreCode.OK);
    }

    @Test
    void an_exist_lease_protects_from_removal_too() {
        assertThat(ok(master.exist("k"))).isTrue();
        assertThat(code(master.remove("k", false))).isEqualTo(StoreCode.OBJECT_HAS_LEASE);
        master.run(Duration.ofSeconds(10), A);
        assertThat(code(master.remove("k", false))).isEqualTo(StoreCode.OK);
    }

    @Test
    void expired_lease_is_not_renewed() {
        Acquired acquired = master.acquire(false, 0, "k");
        master.run(Duration.ofSeconds(10), A);
        master.release(acquired.leaseId());
        assertThat(master.stats().leasedBytes()).isZero();
        // The id is over: releasing it again must not take another client's lease away.
        Acquired other = master.acquire(false, 0, "k");
        assertThat(other.leaseId()).isNotEqualTo(acquired.leaseId());
        master.release(acquired.leaseId());
        assertThat(code(master.remove("k", false))).isEqualTo(StoreCode.OBJECT_HAS_LEASE);
        assertThat(master.core.counters().of(CoreCount.LEASES_EXPIRED)).isEqualTo(1);
    }

    @Test
    void one_lease_covers_all_objects_of_an_acquire() {
        master.put("l", MIB);
        Acquired acquired = master.acquire(false, 0, "k", "missing", "l");
        assertThat(acquired.leaseId()).isNotZero();
        assertThat(acquired.leaseTtlMs()).isEqualTo(10_000);
        assertThat(acquired.objects().stream().map(Harness::code))
                .containsExactly(StoreCode.OK, StoreCode.OBJECT_NOT_FOUND, StoreCode.OK);
        assertThat(master.stats().leasedBytes()).isEqualTo(2 * MIB);
        assertThat(code(master.remove("l", false))).isEqualTo(StoreCode.OBJECT_HAS_LEASE);
        master.release(acquired.leaseId());
        assertThat(master.stats().leasedBytes()).isZero();
        assertThat(code(master.remove("l", false))).isEqualTo(StoreCode.OK);
        CoreChecks.verify(master.core);
    }

    @Test
    void leases_are_counted() {
        long first = master.acquire(false, 0, "k").leaseId();
        long second = master.acquire(false, 0, "k").leaseId();
        master.release(first, first, 12345);
        assertThat(code(master.remove("k", false))).isEqualTo(StoreCode.OBJECT_HAS_LEASE);
        master.release(second);
        assertThat(code(master.remove("k", false))).isEqualTo(StoreCode.OK);
    }

    @Test
    void a_prefix_acquire_stops_at_the_first_gap() {
        master.put("l", MIB);
        ok(master.start(A, "unready", 1));
        Acquired acquired = master.acquire(true, 0, "k", "unready", "l");
        assertThat(acquired.objects()).hasSize(1);
        assertThat(acquired.objects().getFirst().isOk()).isTrue();
        assertThat(master.stats().leasedBytes()).isEqualTo(MIB);
        Acquired nothing = master.acquire(true, 0, "missing", "k");
        assertThat(nothing.objects()).isEmpty();
        assertThat(nothing.leaseId()).isZero();
        assertThat(master.acquire(false, 0, "unready").objects().stream().map(Harness::code))
                .containsExactly(StoreCode.REPLICA_IS_NOT_READY);
    }

    @Test
    void a_shorter_lease_can_be_asked_for_but_not_a_longer_one() {
        assertThat(master.acquire(false, 50, "k").leaseTtlMs()).isEqualTo(50);
        assertThat(code(master.remove("k", false))).isEqualTo(StoreCode.OBJECT_HAS_LEASE);
        master.run(Duration.ofMillis(50), A);
        assertThat(master.acquire(false, 3_600_000, "k").leaseTtlMs()).isEqualTo(10_000);
        master.run(Duration.ofSeconds(10), A);
        assertThat(code(master.remove("k", false))).isEqualTo(StoreCode.OK);
    }

    @Test
    void the_same_key_twice_is_held_twice() {
        Acquired acquired = master.acquire(false, 0, "k", "k");
        assertThat(master.stats().leasedBytes()).isEqualTo(MIB);
        master.release(acquired.leaseId());
        assertThat(code(master.remove("k", false))).isEqualTo(StoreCode.OK);
        CoreChecks.verify(master.core);
    }

    @Test
    void force_takes_the_name_at_once_but_the_bytes_when_no_reader_is_left() {
        ok(master.get("k"));
        assertThat(code(master.remove("k", true))).isEqualTo(StoreCode.OK);
        assertThat(code(master.get("k"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(master.stats().usedBytes()).isEqualTo(MIB);
        master.run(Duration.ofMillis(10_100), A);
        assertThat(master.stats().usedBytes()).isZero();
        CoreChecks.verify(master.core);
    }

    @Test
    void a_lease_on_a_removed_object_does_not_touch_the_next_one() {
        long lease = master.acquire(false, 0, "k").leaseId();
        ok(master.remove("k", true));
        master.put("k", MIB);
        long second = master.acquire(false, 0, "k").leaseId();
        master.release(lease);
        assertThat(code(master.remove("k", false))).isEqualTo(StoreCode.OBJECT_HAS_LEASE);
        master.release(second);
        assertThat(code(master.remove("k", false))).isEqualTo(StoreCode.OK);
        CoreChecks.verify(master.core);
    }

    @Test
    void an_object_in_flight_is_not_removed_even_by_force() {
        ok(master.start(A, "ip", 1));
        assertThat(code(master.remove("ip", false))).isEqualTo(StoreCode.REPLICA_IS_NOT_READY);
        assertThat(code(master.remove("ip", true))).isEqualTo(StoreCode.REPLICA_IS_NOT_READY);
        assertThat(code(master.remove("none", true))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
    }

    @Test
    void leases_have_a_limit() {
        Harness small =
                new Harness(
                        settings -> {
                            settings.maxLeases = 2;
                            return settings;
                        });
        small.mount(A, 11, "node-a:1", 16 * MIB);
        small.put("k", 1);
        small.acquire(false, 0, "k");
        long second = small.acquire(false, 0, "k").leaseId();
        Acquired refused = small.acquire(false, 0, "k");
        assertThat(refused.leaseId()).isZero();
        assertThat(refused.objects().stream().map(Harness::code))
                .containsExactly(StoreCode.UNAVAILABLE_IN_CURRENT_STATUS);
        small.release(second);
        assertThat(small.acquire(false, 0, "k").leaseId()).isNotZero();
    }

    @Test
    void a_batch_removes_item_by_item() {
        master.put("l", 1);
        ok(master.get("k"));
        assertThat(
                        master
                                .apply(
                                        new Command.BatchRemove(
                                                new Args.BatchRemove(
                                                        List.of(key("k"), key("none"), key("l")),
                                                        false,
                                                        Harness.TENANT)))
                                .stream()
                                .map(Harness::code))
                .containsExactly(
                        StoreCode.OBJECT_HAS_LEASE, StoreCode.OBJECT_NOT_FOUND, StoreCode.OK);
    }

    @Test
    void only_the_writers_own_unleased_replicas_are_cleared() {
        master.mount(B, 13, "node-b:1", 16 * MIB);
        master.put("two", 7, Harness.replicas(2));
        ok(master.get("k"));
        assertThat(clear(B, "", "two")).isEmpty();
        assertThat(clear(A, "node-b:1", "two", "none", "")).containsExactly("two");
        assertThat(master.stats().usedBytes()).isEqualTo(MIB + 7);
        assertThat(clear(A, "", "two", "k")).containsExactly("two");
        assertThat(code(master.get("two"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        CoreChecks.verify(master.core);
    }

    private List<String> clear(Uuid client, String segment, String... keys) {
        return ok(
                        master.apply(
                                new Command.BatchReplicaClear(
                                        new Args.BatchReplicaClear(
                                                List.of(keys).stream().map(Harness::key).toList(),
                                                client,
                                                segment))))
                .stream()
                .map(Object::toString)
                .toList();
    }
}
