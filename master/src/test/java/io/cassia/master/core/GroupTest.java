package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.MIB;
import static io.cassia.master.core.Harness.code;
import static io.cassia.master.core.Harness.detail;
import static io.cassia.master.core.Harness.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.status.StoreCode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class GroupTest {
    private final Harness master = new Harness();

    @BeforeEach
    void mount() {
        master.mount(A, 11, "node-a:1", 6 * MIB);
    }

    @AfterEach
    void verify() {
        CoreChecks.verify(master.core);
    }

    static ReplicateConfig in(String group) {
        return new ReplicateConfig(
                1,
                0,
                0,
                0,
                OptionalLong.empty(),
                false,
                List.of(),
                "",
                List.of(),
                false,
                0,
                "",
                Optional.of(List.of(ByteString.of(group))));
    }

    private List<String> there(String... keys) {
        return Stream.of(keys)
                .filter(
                        key ->
                                master.core
                                                .state()
                                                .objects
                                                .find(0, key.getBytes(StandardCharsets.UTF_8))
                                        != 0)
                .toList();
    }

    @Test
    void a_read_of_one_member_leases_all() {
        master.put("a", MIB, in("g"));
        master.put("b", MIB, in("g"));
        master.put("c", MIB, in("other"));
        ok(master.get("a"));
        assertThat(code(master.remove("b", false))).isEqualTo(StoreCode.OBJECT_HAS_LEASE);
        assertThat(code(master.remove("c", false))).isEqualTo(StoreCode.OK);
    }

    @Test
    void a_refresh_waits_until_half_of_the_lease_is_over_unless_a_member_joined() {
        master.put("a", MIB, in("g"));
        master.put("b", MIB, in("g"));
        ok(master.get("a"));
        master.run(Duration.ofSeconds(4), A);
        ok(master.get("a"));
        master.run(Duration.ofSeconds(6), A);
        assertThat(code(master.remove("b", false))).isEqualTo(StoreCode.OK);
        master.put("b", MIB, in("g"));
        ok(master.get("a"));
        assertThat(code(master.remove("b", false))).isEqualTo(StoreCode.OBJECT_HAS_LEASE);
        master.run(Duration.ofSeconds(5), A);
        ok(master.exist("a"));
        master.run(Duration.ofSeconds(6), A);
        assertThat(code(master.remove("b", false))).isEqualTo(StoreCode.OBJECT_HAS_LEASE);
    }

    @Test
    void a_group_is_evicted_as_a_whole() {
        master.put("a", MIB, in("g"));
        master.put("x", MIB);
        master.put("b", MIB, in("g"));
        master.put("c", MIB, in("g"));
        master.put("y", MIB);
        master.put("z", MIB);
        master.put("new", MIB);
        assertThat(there("a", "b", "c", "x", "y", "z", "new"))
                .containsExactly("x", "y", "z", "new");
        assertThat(master.stats().evictedObjects()).isEqualTo(3);
    }

    @Test
    void a_lease_on_one_member_keeps_the_group() {
        master.put("a", MIB, in("g"));
        master.put("b", MIB, in("g"));
        master.put("x", MIB);
        master.put("y", 3 * MIB);
        long lease = master.acquire(false, 0, "b").leaseId();
        master.put("new", MIB);
        assertThat(there("a", "b", "x", "y", "new")).containsExactly("a", "b", "y", "new");
        master.release(lease);
        master.put("newer", MIB);
        assertThat(there("a", "b", "y", "new", "newer")).containsExactly("y", "new", "newer");
    }

    @Test
    void a_pinned_member_stays_when_its_group_goes() {
        ReplicateConfig pinned =
                new ReplicateConfig(
                        1,
                        0,
                        0,
                        0,
                        OptionalLong.empty(),
                        true,
                        List.of(),
                        "",
                        List.of(),
                        false,
                        0,
                        "",
                        Optional.of(List.of(ByteString.of("g"))));
        master.put("a", MIB, in("g"));
        master.put("pin", MIB, pinned);
        master.put("b", 4 * MIB, in("g"));
        master.put("new", MIB);
        assertThat(there("a", "pin", "b", "new")).containsExactly("pin", "new");
    }

    @Test
    void the_group_of_an_object_cannot_change() {
        master.put("a", MIB, in("g"));
        master.put("plain", MIB);
        assertThat(code(master.upsert(A, "a", MIB, in("h")))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(detail(master.upsert(A, "plain", MIB, in("h"))))
                .contains("plain is in group ''");
        ok(master.upsert(A, "a", MIB, in("g")));
        ok(master.end(A, "a"));
        ok(master.upsert(A, "a", MIB));
        ok(master.end(A, "a"));
        ok(master.get("a"));
        assertThat(master.core.state().groups.count()).isEqualTo(1);
        ok(master.remove("a", true));
        assertThat(master.core.state().groups.count()).isZero();
    }
}
