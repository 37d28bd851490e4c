package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.B;
import static io.cassia.master.core.Harness.KIB;
import static io.cassia.master.core.Harness.TENANT;
import static io.cassia.master.core.Harness.code;
import static io.cassia.master.core.Harness.key;
import static io.cassia.master.core.Harness.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.rpc.cassia.CassiaMessages;
import io.cassia.rpc.cassia.CheckedMessages;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ClientStatus;
import io.cassia.rpc.mooncake.CopyStartResult;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A master that was started again: words that were meant for the one before mean nothing to it. */
class RestartTest {
    private final Harness before = master(1, Duration.ZERO);
    private final Harness after = master(2, Duration.ZERO);

    private static Harness master(long seed, Duration grace) {
        return new Harness(
                settings -> {
                    settings.seed = seed;
                    settings.restartGrace = grace;
                    return settings;
                });
    }

    @AfterEach
    void verify() {
        CoreChecks.verify(after.core);
    }

    private static Segment mount(Harness master) {
        return master.mount(A, 11, "a", 64 * KIB);
    }

    private static Outcome<Done> end(Harness master, long put) {
        return master.apply(
                new Command.PutEnd(
                        new Args.PutEnd(
                                A, new ObjectMeta(key("k"), OptionalLong.empty()), 4, TENANT),
                        put));
    }

    @Test
    void nodes_and_clients_find_out_that_it_knows_nothing() {
        Segment segment = mount(before);
        before.put("k", KIB);
        assertThat(ok(after.ping(A)).clientStatus()).isEqualTo(ClientStatus.NEED_REMOUNT.number());
        assertThat(code(after.get("k"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(code(after.end(A, "k"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        ok(after.apply(new Command.ReMountSegment(new Args.ReMountSegment(List.of(segment), A))));
        assertThat(ok(after.ping(A)).clientStatus()).isEqualTo(ClientStatus.OK.number());
        after.put("k", KIB);
        ok(after.get("k"));
    }

    @Test
    void an_end_of_a_put_that_the_old_one_started_ends_no_put_of_the_new_one() {
        mount(before);
        mount(after);
        long old = ok(before.start(A, "k", KIB)).getFirst().id();
        long fresh = ok(after.start(A, "k", KIB)).getFirst().id();
        assertThat(code(end(after, old))).isEqualTo(StoreCode.INVALID_WRITE);
        ok(end(after, fresh));
    }

    @Test
    void an_end_of_a_copy_that_the_old_one_started_ends_no_copy_of_the_new_one() {
        for (Harness master : List.of(before, after)) {
            mount(master);
            master.mount(B, 13, "b", 64 * KIB);
            master.put("k", KIB, Harness.config(1, 0, OptionalLong.empty(), false, "a"));
        }
        CopyStartResult old = ok(copy(before));
        ok(copy(after));
        Args.ClientKey args = new Args.ClientKey(A, key("k"), TENANT);
        assertThat(code(after.apply(new Command.CopyEnd(args, old.targets().getFirst().id()))))
                .isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(ok(after.get("k")).replicas()).hasSize(1);
    }

    private static Outcome<CopyStartResult> copy(Harness master) {
        return master.apply(
                new Command.CopyStart(new Args.CopyStart(A, key("k"), TENANT, "a", List.of("b"))));
    }

    @Test
    void leases_and_versions_of_the_old_one_are_strangers_to_the_new_one() {
        for (Harness master : List.of(before, after)) {
            mount(master);
            master.put("k", KIB);
        }
        CheckedMessages.CheckedAcquired old = acquire(before);
        CheckedMessages.CheckedAcquired fresh = acquire(after);
        after.apply(new Command.Release(List.of(old.leaseId())));
        assertThat(code(after.remove("k", false))).isEqualTo(StoreCode.OBJECT_HAS_LEASE);
        CheckedMessages.CheckedObject seen = ok(old.objects().getFirst());
        assertThat(
                        after.apply(
                                new Command.DropReplica(
                                        new CheckedMessages.DropReplica(
                                                key("k"),
                                                TENANT,
                                                seen.version(),
                                                seen.replicas().getFirst().id()))))
                .isFalse();
        Args.PutStart put = new Args.PutStart(B, key("k"), 1, ReplicateConfig.DEFAULT, TENANT);
        assertThat(
                        code(
                                after.apply(
                                        new Command.UpsertStartIf(
                                                new CheckedMessages.UpsertStartIf(
                                                        put, seen.version())))))
                .isEqualTo(StoreCode.INVALID_VERSION);
        after.apply(new Command.Release(List.of(fresh.leaseId())));
        ok(after.remove("k", false));
    }

    private static CheckedMessages.CheckedAcquired acquire(Harness master) {
        return master.apply(
                new Command.AcquireChecked(
                        new CassiaMessages.Acquire(List.of(key("k")), TENANT, false, 0)));
    }

    @Test
    void with_a_grace_it_gives_out_no_space_until_old_readers_are_gone() {
        Harness careful = master(3, Duration.ofSeconds(10));
        mount(careful);
        Outcome<?> early = careful.start(A, "k", KIB);
        assertThat(code(early)).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(Harness.detail(early)).contains("restart-grace");
        careful.run(Duration.ofSeconds(11), A);
        careful.put("k", KIB);
        CoreChecks.verify(careful.core);
    }
}
