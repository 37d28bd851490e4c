package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.KIB;
import static io.cassia.master.core.Harness.code;
import static io.cassia.master.core.Harness.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.TenantQuota;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Namespaces and quotas of tenants (spec mooncake-store 9). */
class TenantTest {
    private Harness master =
            new Harness(
                    settings -> {
                        settings.multiTenant = true;
                        return settings;
                    });

    @AfterEach
    void verify() {
        CoreChecks.verify(master.core);
    }

    private static ByteString name(String tenant) {
        return ByteString.of(tenant);
    }

    private Outcome<List<ReplicaDescriptor>> start(
            String tenant, String key, long size, ReplicateConfig config) {
        return master.apply(
                new Command.PutStart(
                        new Args.PutStart(A, Harness.key(key), size, config, name(tenant))));
    }

    private Outcome<Done> put(String tenant, String key, long size) {
        return put(tenant, key, size, ReplicateConfig.DEFAULT);
    }

    private Outcome<Done> put(String tenant, String key, long size, ReplicateConfig config) {
        return start(tenant, key, size, config)
                .then(
                        _ ->
                                master.apply(
                                        new Command.PutEnd(
                                                new Args.PutEnd(
                                                        A,
                                                        new ObjectMeta(
                                                                Harness.key(key),
                                                                OptionalLong.empty()),
                                                        4,
                                                        name(tenant)))));
    }

    private boolean exists(String tenant, String key) {
        return ok(master.apply(new Command.ExistKey(Harness.key(key), name(tenant))));
    }

    private TenantQuota quota(String tenant) {
        return ok(master.apply(new Command.TenantQuotas(name(tenant)))).getFirst();
    }

    private List<Long> effective(String... tenants) {
        List<Long> found = new ArrayList<>();
        for (String tenant : tenants) {
            found.add(quota(tenant).effectiveBytes());
        }
        return found;
    }

    @Test
    void only_registered_tenants_write_and_each_has_its_own_keys() {
        master.mount(A, 11, "a", 64 * KIB);
        assertThat(code(put("default", "k", 1))).isEqualTo(StoreCode.TENANT_NOT_REGISTERED);
        assertThat(code(put("", "k", 1))).isEqualTo(StoreCode.TENANT_NOT_REGISTERED);
        assertThat(code(put("_x", "k", 1))).isEqualTo(StoreCode.TENANT_NOT_REGISTERED);
        assertThat(code(put("x\u007f", "k", 1))).isEqualTo(StoreCode.TENANT_NOT_REGISTERED);
        assertThat(code(master.apply(new Command.ExistKey(Harness.key("k"), name("_x")))))
                .isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(exists("nobody", "k")).isFalse();
        master.quota("t1", 16 * KIB);
        master.quota("t2", 16 * KIB);
        ok(put("t1", "k", 10));
        ok(put("t2", "k", 20));
        assertThat(code(put("t1", "k", 10))).isEqualTo(StoreCode.OBJECT_ALREADY_EXISTS);
        assertThat(quota("t2").chargedBytes()).isEqualTo(20);
        assertThat(master.removeAll(Optional.of(name("t1")), Optional.of(".*"), true)).isEqualTo(1);
        assertThat(exists("t2", "k")).isTrue();
        assertThat(exists("t1", "k")).isFalse();
    }

    @Test
    void quotas_beyond_the_capacity_are_shared_in_proportion_to_the_byte() {
        master.quota("a", 100);
        master.quota("b", 100);
        master.quota("c", 100);
        assertThat(effective("a", "b", "c")).as("no capacity").containsExactly(0L, 0L, 0L);
        master.mount(A, 11, "n", 100);
        assertThat(effective("a", "b", "c")).containsExactly(34L, 33L, 33L);
        master.quota("b", 101);
        // 100 * 101 / 301 = 33 rest 167, 100 * 100 / 301 = 33 rest 67.
        assertThat(effective("a", "b", "c")).containsExactly(33L, 34L, 33L);
        master.mount(A, 13, "m", 201);
        assertThat(effective("a", "b", "c")).containsExactly(100L, 101L, 100L);
        master.quota("a", Long.MAX_VALUE);
        master.quota("b", Long.MAX_VALUE);
        assertThat(effective("a", "b", "c")).containsExactly(151L, 150L, 0L);
    }

    @Test
    void a_tenant_at_its_quota_evicts_its_own_coldest_and_nobody_elses() {
        master.mount(A, 11, "n", 64 * KIB);
        master.quota("a", 4 * KIB);
        master.quota("b", 4 * KIB);
        ok(put("b", "old", KIB));
        for (int i = 0; i < 4; i++) {
            ok(put("a", "k" + i, KIB));
        }
        ok(put("a", "k4", KIB));
        assertThat(exists("a", "k0")).isFalse();
        assertThat(exists("b", "old")).isTrue();
        assertThat(quota("a").chargedBytes()).isEqualTo(4 * KIB);
        ok(put("a", "large", 2 * KIB));
        assertThat(exists("a", "k1") || exists("a", "k2")).isFalse();
        assertThat(exists("a", "k3") && exists("a", "k4")).isTrue();
        assertThat(
                        ok(master.apply(new Command.Explain(Harness.key("k1"), name("a"))))
                                .decisions()
                                .getFirst()
                                .what())
                .isEqualTo("evicted-for-tenant");
    }

    @Test
    void a_write_that_cannot_fit_costs_nobody_an_object() {
        master.mount(A, 11, "n", 64 * KIB);
        master.quota("a", 4 * KIB);
        for (int i = 0; i < 4; i++) {
            ok(put("a", "k" + i, KIB));
        }
        assertThat(code(put("a", "huge", 5 * KIB))).isEqualTo(StoreCode.TENANT_QUOTA_EXCEEDED);
        ok(master.apply(new Command.GetReplicaList(Harness.key("k0"), name("a"))));
        assertThat(code(put("a", "large", 4 * KIB)))
                .as("one is being read")
                .isEqualTo(StoreCode.TENANT_QUOTA_EXCEEDED);
        for (int i = 0; i < 4; i++) {
            assertThat(exists("a", "k" + i)).isTrue();
        }
        ok(put("a", "small", KIB));
        assertThat(exists("a", "k0")).as("leased").isTrue();
    }

    @Test
    void a_write_with_no_place_in_the_pool_costs_the_tenant_nothing() {
        master.mount(A, 11, "n", 4 * KIB);
        master.mount(A, 13, "m", 4 * KIB);
        master.quota("a", 8 * KIB);
        for (int i = 0; i < 8; i++) {
            ok(put("a", "k" + i, KIB));
        }
        assertThat(code(put("a", "l", 5 * KIB))).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(quota("a").objects()).isEqualTo(8);
    }

    @Test
    void protections_are_overridden_in_the_second_step_only() {
        master.mount(A, 11, "n", 64 * KIB);
        master.quota("a", 3 * KIB);
        ok(put("a", "pinned", KIB, Harness.softPinned(100_000)));
        ok(put("a", "asked", KIB));
        ok(put("a", "plain", KIB));
        assertThat(exists("a", "asked")).isTrue();
        ok(put("a", "one", KIB));
        assertThat(exists("a", "plain")).isFalse();
        ok(put("a", "two", 3 * KIB));
        assertThat(master.stats().objects()).isEqualTo(1);
    }

    @Test
    void an_upsert_is_charged_for_both_versions_until_its_end() {
        master.mount(A, 11, "n", 64 * KIB);
        master.quota("a", 3 * KIB);
        ok(put("a", "k", KIB));
        Args.PutStart larger =
                new Args.PutStart(A, Harness.key("k"), 2 * KIB, ReplicateConfig.DEFAULT, name("a"));
        ok(master.apply(new Command.UpsertStart(larger)));
        assertThat(quota("a").chargedBytes()).isEqualTo(3 * KIB);
        ok(
                master.apply(
                        new Command.PutEnd(
                                new Args.PutEnd(
                                        A,
                                        new ObjectMeta(Harness.key("k"), OptionalLong.empty()),
                                        4,
                                        name("a")))));
        assertThat(quota("a").chargedBytes()).isEqualTo(2 * KIB);
        assertThat(code(master.apply(new Command.UpsertStart(larger))))
                .as("the old version is not its own victim")
                .isEqualTo(StoreCode.TENANT_QUOTA_EXCEEDED);
        assertThat(exists("a", "k")).isTrue();
    }

    @Test
    void copies_are_refused_by_the_quota_without_an_eviction() {
        master.mount(A, 11, "n", 64 * KIB);
        master.mount(A, 13, "m", 64 * KIB);
        master.quota("a", 2 * KIB);
        ok(put("a", "k", KIB, Harness.config(1, 0, OptionalLong.empty(), false, "n")));
        ok(put("a", "l", KIB));
        assertThat(
                        code(
                                master.apply(
                                        new Command.CopyStart(
                                                new Args.CopyStart(
                                                        A,
                                                        Harness.key("k"),
                                                        name("a"),
                                                        "n",
                                                        List.of("m"))))))
                .isEqualTo(StoreCode.TENANT_QUOTA_EXCEEDED);
        assertThat(exists("a", "l")).isTrue();
        assertThat(
                        code(
                                master.apply(
                                        new Command.CreateCopyTask(
                                                new Args.CreateCopyTask(
                                                        Harness.key("k"),
                                                        name("other"),
                                                        List.of("m")),
                                                0))))
                .isEqualTo(StoreCode.TENANT_NOT_REGISTERED);
    }

    @Test
    void a_lowered_quota_closes_the_tenant_until_it_is_below() {
        master.mount(A, 11, "n", 64 * KIB);
        master.quota("a", 4 * KIB);
        for (int i = 0; i < 4; i++) {
            ok(put("a", "k" + i, KIB));
        }
        master.quota("a", 2 * KIB);
        assertThat(quota("a").overQuota()).isTrue();
        ok(put("a", "k4", KIB));
        assertThat(quota("a").chargedBytes()).isEqualTo(2 * KIB);
        assertThat(exists("a", "k3")).isTrue();
    }

    @Test
    void a_tenant_is_deleted_when_it_is_empty() {
        master.mount(A, 11, "n", 64 * KIB);
        master.quota("a", KIB);
        ok(put("a", "k", 1));
        ByteString a = name("a");
        assertThat(code(master.apply(new Command.DeleteTenantQuota(a))))
                .isEqualTo(StoreCode.TENANT_NOT_EMPTY);
        master.run(Duration.ofSeconds(1), A);
        assertThat(master.removeAll(Optional.of(a), Optional.empty(), true)).isEqualTo(1);
        ok(master.apply(new Command.DeleteTenantQuota(a)));
        assertThat(code(master.apply(new Command.DeleteTenantQuota(a))))
                .isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(code(master.apply(new Command.TenantQuotas(a))))
                .isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(code(put("a", "k", 1))).isEqualTo(StoreCode.TENANT_NOT_REGISTERED);
        master.quota("b", KIB);
        ok(put("b", "k", 1));
        assertThat(exists("a", "k")).as("the number of a is b's now").isFalse();
        assertThat(code(master.apply(new Command.SetTenantQuota(name("_c"), 1))))
                .isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(master.apply(new Command.SetTenantQuota(name("c"), 0))))
                .isEqualTo(StoreCode.INVALID_PARAMS);
    }

    @Test
    void with_tenancy_off_there_is_one_tenant_and_no_quota() {
        master = new Harness();
        master.mount(A, 11, "n", 64 * KIB);
        ok(put("_anything", "k", 1));
        assertThat(exists("other", "k")).isTrue();
        assertThat(code(master.apply(new Command.SetTenantQuota(name("a"), 1))))
                .isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_MODE);
        assertThat(code(master.apply(new Command.TenantQuotas(ByteString.EMPTY))))
                .isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_MODE);
        assertThat(code(master.apply(new Command.DeleteTenantQuota(name("a")))))
                .isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_MODE);
    }
}
