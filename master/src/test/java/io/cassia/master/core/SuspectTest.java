package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.B;
import static io.cassia.master.core.Harness.KIB;
import static io.cassia.master.core.Harness.code;
import static io.cassia.master.core.Harness.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.rpc.mooncake.ClientStatus;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Clients that fall silent: suspected first, wiped only after a longer silence. */
class SuspectTest {
    private static final ReplicateConfig ON_B =
            Harness.config(1, 0, OptionalLong.empty(), false, "b");

    private final Harness master = new Harness();

    @BeforeEach
    void mount() {
        master.mount(A, 11, "a", 64 * KIB);
        master.mount(B, 13, "b", 64 * KIB);
    }

    @AfterEach
    void verify() {
        CoreChecks.verify(master.core);
    }

    private void silence() {
        master.run(Duration.ofSeconds(11), A);
    }

    @Test
    void a_silent_clients_data_is_kept_and_back_with_its_next_ping() {
        master.put("k", KIB, ON_B);
        silence();
        assertThat(master.core.takeEffects())
                .anyMatch(
                        effect ->
                                effect instanceof Effect.ClientSuspected(var who, _, _)
                                        && who.equals(B));
        assertThat(master.stats().clients()).isEqualTo(1);
        assertThat(ok(master.exist("k"))).as("it may be gone").isFalse();
        assertThat(ok(master.get("k")).replicas()).as("who tries finds out").hasSize(1);
        assertThat(ok(master.ping(B)).clientStatus()).isEqualTo(ClientStatus.OK.number());
        assertThat(ok(master.exist("k"))).isTrue();
        assertThat(master.stats().clients()).isEqualTo(2);
        assertThat(master.core.takeEffects())
                .anyMatch(effect -> effect instanceof Effect.ClientReturned);
    }

    @Test
    void a_longer_silence_wipes_it() {
        master.put("k", KIB, ON_B);
        master.run(Duration.ofSeconds(31), A);
        assertThat(code(master.get("k"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(ok(master.ping(B)).clientStatus()).isEqualTo(ClientStatus.NEED_REMOUNT.number());
    }

    @Test
    void new_replicas_keep_off_silent_clients() {
        silence();
        for (int i = 0; i < 20; i++) {
            List<ReplicaDescriptor> placed = ok(master.start(A, "k" + i, KIB, ON_B));
            assertThat(placed.toString()).contains("127.0.0.1:1011");
        }
        assertThat(ok(master.start(A, "two", KIB, Harness.replicas(2)))).hasSize(1);
        ok(master.ping(B));
        assertThat(ok(master.start(A, "two-again", KIB, Harness.replicas(2)))).hasSize(2);
    }

    @Test
    void a_put_of_what_only_silent_clients_hold_replaces_it_at_its_end() {
        master.put("k", KIB, ON_B);
        master.put("l", KIB, ON_B);
        silence();
        assertThat(code(master.start(A, "k", 2 * KIB))).isEqualTo(StoreCode.OK);
        assertThat(code(master.start(A, "l", 2 * KIB))).isEqualTo(StoreCode.OK);
        ok(master.end(A, "k"));
        assertThat(ok(master.exist("k"))).isTrue();
        ok(master.revoke(A, "l"));
        ok(master.ping(B));
        assertThat(ok(master.exist("l"))).as("the old one is still there").isTrue();
        assertThat(code(master.start(A, "l", KIB))).isEqualTo(StoreCode.OBJECT_ALREADY_EXISTS);
    }

    @Test
    void readers_are_sent_to_clients_that_are_alive_first() {
        ok(master.start(A, "k", KIB, Harness.config(2, 0, OptionalLong.empty(), false, "b")));
        ok(master.end(A, "k"));
        assertThat(ok(master.get("k")).replicas().getFirst().toString()).contains(":1013");
        silence();
        assertThat(ok(master.exist("k"))).isTrue();
        assertThat(ok(master.get("k")).replicas()).hasSize(2);
        assertThat(ok(master.get("k")).replicas().getFirst().toString()).contains(":1011");
    }

    @Test
    void a_stalled_master_suspects_nobody_before_they_could_ping() {
        master.put("k", KIB, ON_B);
        master.run(Duration.ofSeconds(3), A, B);
        master.sleep(Duration.ofHours(1));
        master.apply(new Command.Tick());
        assertThat(ok(master.exist("k"))).isTrue();
        assertThat(master.stats().clients()).isEqualTo(2);
    }

    @Test
    void a_silent_client_may_unmount_and_mount_again() {
        master.put("k", KIB, ON_B);
        silence();
        Segment segment = Harness.segment(13, "b", 13L << 32, 64 * KIB);
        ok(master.unmount(segment, B));
        master.mount(B, 15, "b", 64 * KIB);
        assertThat(ok(master.exist("k"))).isFalse();
        master.put("k", KIB, ON_B);
        assertThat(ok(master.exist("k"))).isTrue();
    }

    @Test
    void who_pings_after_a_stall_before_the_timer_gets_no_credit_for_it() {
        master.run(Duration.ofSeconds(3), A, B);
        master.sleep(Duration.ofSeconds(60));
        ok(master.ping(A));
        // Now the timer learns how long the stall was.
        master.run(Duration.ofSeconds(11), B);
        assertThat(master.core.takeEffects())
                .anySatisfy(
                        effect -> assertThat(effect).isInstanceOf(Effect.ClientSuspected.class));
    }
}
