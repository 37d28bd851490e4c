package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.B;
import static io.cassia.master.core.Harness.KIB;
import static io.cassia.master.core.Harness.TENANT;
import static io.cassia.master.core.Harness.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.rpc.cassia.CassiaMessages.Decision;
import io.cassia.rpc.cassia.CassiaMessages.Explanation;
import io.cassia.rpc.cassia.CassiaMessages.LongestPrefix;
import io.cassia.rpc.cassia.CassiaMessages.PrefixHit;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Leading keys in one call, and what became of keys. */
class PrefixTest {
    private final Harness master = new Harness();

    @BeforeEach
    void mount() {
        master.mount(A, 11, "a", 8 * KIB);
    }

    @AfterEach
    void verify() {
        CoreChecks.verify(master.core);
    }

    private PrefixHit prefix(boolean counted, long ttlMs, String... keys) {
        return ok(
                master.apply(
                        new Command.LongestPrefix(
                                new LongestPrefix(
                                        Arrays.stream(keys).map(Harness::key).toList(),
                                        TENANT,
                                        ttlMs,
                                        counted,
                                        true))));
    }

    private Explanation explain(String key) {
        return ok(master.apply(new Command.Explain(Harness.key(key), TENANT)));
    }

    @Test
    void the_leading_readable_keys_are_counted_leased_and_described() {
        for (String key : List.of("k0", "k1", "k3")) {
            master.put(key, KIB);
        }
        ok(master.end(A, "k1", 4, OptionalLong.empty()));
        ok(master.start(A, "k2", KIB));
        PrefixHit hit = prefix(true, 0, "k0", "k1", "k2", "k3");
        assertThat(hit.count()).isEqualTo(2);
        assertThat(hit.objects()).hasSize(2);
        ReplicaList first = ok(hit.objects().getFirst());
        assertThat(first.replicas()).isEqualTo(ok(master.get("k0")).replicas());
        assertThat(hit.leaseTtlMs()).isEqualTo(10_000);
        master.sleep(Duration.ofSeconds(9));
        assertThat(master.stats().leasedBytes()).isEqualTo(2 * KIB);
        master.release(hit.leaseId());
        master.sleep(Duration.ofSeconds(2));
        assertThat(master.stats().leasedBytes()).isZero();
        assertThat(prefix(true, 0, "none").leaseId()).isZero();
        assertThat(prefix(true, 0).count()).isZero();
    }

    @Test
    void a_prefix_by_time_is_leased_as_by_a_read_and_needs_no_release() {
        master.put("k0", KIB);
        master.put("k1", KIB);
        PrefixHit hit = prefix(false, 0, "k0", "x", "k1");
        assertThat(hit.count()).isEqualTo(1);
        assertThat(hit.leaseId()).isZero();
        assertThat(master.stats().leasedBytes()).isEqualTo(KIB);
        master.run(Duration.ofSeconds(11), A);
        assertThat(master.stats().leasedBytes()).isZero();
    }

    @Test
    void one_lease_covers_keys_that_are_looked_up_in_pieces() {
        for (int i = 0; i < 4; i++) {
            master.put("k" + i, KIB);
        }
        PrefixHit first = prefix(true, 0, "k0", "k1");
        LongestPrefix rest =
                new LongestPrefix(
                        List.of(Harness.key("k2"), Harness.key("k3")), TENANT, 0, true, false);
        PrefixHit second = ok(master.apply(new Command.LongestPrefix(rest, first.leaseId())));
        assertThat(second.leaseId()).isEqualTo(first.leaseId());
        assertThat(master.stats().leasedBytes()).isEqualTo(4 * KIB);
        master.release(first.leaseId());
        assertThat(master.stats().leasedBytes()).isZero();
        assertThat(Harness.code(master.apply(new Command.LongestPrefix(rest, first.leaseId()))))
                .isEqualTo(StoreCode.LEASE_EXPIRED);
    }

    @Test
    void a_counted_lease_may_be_shorter_than_the_default() {
        master.put("k0", KIB);
        assertThat(prefix(true, 1000, "k0").leaseTtlMs()).isEqualTo(1000);
        assertThat(prefix(true, 99_000, "k0").leaseTtlMs()).isEqualTo(10_000);
    }

    @Test
    void it_is_told_what_became_of_a_key_the_latest_first() {
        assertThat(explain("k").state()).isEqualTo("absent");
        assertThat(explain("k").decisions()).isEmpty();
        master.put("k", KIB);
        assertThat(explain("k").state()).startsWith("readable");
        ok(master.remove("k", false));
        master.sleep(Duration.ofSeconds(1));
        master.put("k", 2 * KIB);
        for (int i = 0; i < 8; i++) {
            master.put("filler" + i, KIB);
        }
        assertThat(explain("k").readable()).isFalse();
        assertThat(explain("k").decisions())
                .containsExactly(
                        new Decision("evicted", 0, 2 * KIB, "a"),
                        new Decision("removed", 1000, KIB, "a"));
        ok(master.upsert(A, "filler7", KIB));
        ok(master.end(A, "filler7"));
        assertThat(explain("filler7").decisions().getFirst().what()).isEqualTo("replaced");
        ok(master.start(A, "flight", KIB));
        assertThat(explain("flight").state()).contains("not readable", "being written by client");
        ok(master.revoke(A, "flight"));
        assertThat(explain("flight").decisions().getFirst().what()).isEqualTo("revoked");
    }

    @Test
    void a_dead_node_is_told_apart_from_an_unmounted_one() {
        master.mount(B, 13, "b", 8 * KIB);
        master.put("on-b", KIB, Harness.config(1, 0, OptionalLong.empty(), false, "b"));
        master.put("on-a", KIB, Harness.config(1, 0, OptionalLong.empty(), false, "a"));
        master.run(Duration.ofSeconds(40), A);
        assertThat(explain("on-b").decisions().getFirst().what()).isEqualTo("node-lost");
        ok(master.unmount(Harness.segment(11, "a", 11L << 32, 8 * KIB), A));
        assertThat(explain("on-a").decisions().getFirst().what()).isEqualTo("unmounted");
    }

    @Test
    void the_ring_remembers_the_last_100_000_decisions() {
        DecisionRing ring = new DecisionRing();
        for (int i = 0; i < 250_000; i++) {
            ring.add(TENANT, Harness.key("k" + i).array(), Fate.EVICTED, i, 1, "");
        }
        assertThat(ring.find(TENANT, Harness.key("k249999").array(), 250_000)).hasSize(1);
        assertThat(ring.find(TENANT, Harness.key("k150000").array(), 250_000)).hasSize(1);
        assertThat(ring.find(TENANT, Harness.key("k149999").array(), 250_000)).isEmpty();
    }
}
