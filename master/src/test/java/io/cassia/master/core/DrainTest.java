package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.B;
import static io.cassia.master.core.Harness.KIB;
import static io.cassia.master.core.Harness.code;
import static io.cassia.master.core.Harness.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.rpc.cassia.CassiaMessages.CreateDrainJob;
import io.cassia.rpc.cassia.CassiaMessages.DrainJob;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.rpc.mooncake.TaskCompletion;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DrainTest {
    private static final int SUCCEEDED = 3;
    private static final int FAILED = 4;

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

    private void put(String key, boolean pinned) {
        master.put(key, KIB, Harness.config(1, 0, OptionalLong.empty(), pinned, "a"));
    }

    private Outcome<Uuid> drain(List<String> segments, List<String> targets, long concurrency) {
        return master.apply(
                new Command.CreateDrainJob(
                        new CreateDrainJob(segments, targets, concurrency), 5000));
    }

    private DrainJob query(Uuid job) {
        return ok(master.apply(new Command.QueryDrainJob(job)));
    }

    private SegmentStatus status(String name) {
        return ok(master.apply(new Command.QuerySegmentStatus(name)));
    }

    /** What a client does with its tasks; moves the first {@code most}. */
    private void work(Uuid client, boolean well) {
        for (TaskOrder order :
                master.apply(new Command.FetchTasks(new Args.FetchTasks(client, 16)))) {
            Args.ClientKey end = new Args.ClientKey(client, order.key(), order.tenant());
            if (well) {
                ok(
                        master.apply(
                                new Command.MoveStart(
                                        new Args.MoveStart(
                                                client,
                                                order.key(),
                                                order.tenant(),
                                                order.source(),
                                                order.targets().getFirst()))));
                ok(master.apply(new Command.MoveEnd(end)));
            }
            ok(
                    master.apply(
                            new Command.MarkTaskToComplete(
                                    new Args.MarkTaskToComplete(
                                            client,
                                            new TaskCompletion(
                                                    order.id(),
                                                    well ? 3 : 2,
                                                    well ? "" : "TRANSFER_FAIL")))));
        }
    }

    private void pass() {
        master.run(Duration.ofMillis(600), A, B);
    }

    @Test
    void a_drain_moves_all_objects_also_pinned_and_leased_ones() {
        for (int i = 0; i < 9; i++) {
            put("k" + i, i % 3 == 0);
        }
        ok(master.get("k1"));
        ok(master.exist("k2"));
        Uuid job = ok(drain(List.of("a"), List.of(), 4));
        assertThat(status("a")).isEqualTo(SegmentStatus.DRAINING);
        pass();
        assertThat(query(job).activeUnits()).isEqualTo(4);
        for (int i = 0; i < 10; i++) {
            work(A, true);
            pass();
        }
        assertThat(query(job).message()).contains("awaiting-release=1");
        assertThat(query(job).succeededUnits()).isEqualTo(9);
        master.run(Duration.ofSeconds(11), A, B);
        assertThat(query(job).status()).isEqualTo(SUCCEEDED);
        assertThat(query(job).migratedBytes()).isEqualTo(9 * KIB);
        assertThat(status("a")).isEqualTo(SegmentStatus.DRAINED);
        for (int i = 0; i < 9; i++) {
            assertThat(ok(master.exist("k" + i))).isTrue();
        }
    }

    @Test
    void what_blocks_a_drain_is_told() {
        put("k", false);
        ok(master.start(A, "writing", KIB, Harness.config(1, 0, OptionalLong.empty(), false, "a")));
        for (int i = 0; i < 64; i++) {
            master.put("f" + i, KIB, Harness.config(1, 0, OptionalLong.empty(), true, "b"));
        }
        Uuid job = ok(drain(List.of("a"), List.of(), 4));
        pass();
        assertThat(query(job).blockedUnits()).isEqualTo(2);
        assertThat(query(job).message()).contains("being-written=1", "no-target-has-room=1");
        ok(master.end(A, "writing"));
        ok(master.remove("f0", true));
        ok(master.remove("f1", true));
        for (int i = 0; i < 4; i++) {
            pass();
            work(A, true);
        }
        pass();
        assertThat(query(job).status()).isEqualTo(SUCCEEDED);
    }

    @Test
    void replicas_that_all_others_have_already_are_dropped_when_nobody_reads_them() {
        for (int i = 0; i < 9; i++) {
            master.put("k" + i, KIB, Harness.config(2, 0, OptionalLong.empty(), i == 0));
        }
        ok(master.get("k1"));
        Uuid job = ok(drain(List.of("a"), List.of(), 4));
        pass();
        assertThat(query(job).activeUnits()).isZero();
        assertThat(query(job).succeededUnits()).isEqualTo(9);
        pass();
        assertThat(query(job).message()).isEqualTo("awaiting-release=1");
        master.run(Duration.ofSeconds(11), A, B);
        assertThat(query(job).status()).isEqualTo(SUCCEEDED);
        assertThat(query(job).migratedBytes()).isZero();
        for (int i = 0; i < 9; i++) {
            assertThat(ok(master.exist("k" + i))).isTrue();
        }
    }

    @Test
    void the_last_replica_that_does_not_drain_too_is_not_dropped() {
        master.mount(new Uuid(5, 6), 17, "c", 64 * KIB);
        master.put("k", KIB, Harness.config(2, 0, OptionalLong.empty(), true, "a", "c"));
        for (int i = 0; i < 64; i++) {
            master.put("f" + i, KIB, Harness.config(1, 0, OptionalLong.empty(), true, "b"));
        }
        Uuid job = ok(drain(List.of("a", "c"), List.of(), 4));
        master.run(Duration.ofSeconds(2), A, B, new Uuid(5, 6));
        assertThat(query(job).message()).isEqualTo("no-target-has-room=2");
        assertThat(query(job).succeededUnits()).isZero();
        ok(master.remove("f0", true));
        for (int i = 0; i < 4; i++) {
            master.run(Duration.ofMillis(600), A, B, new Uuid(5, 6));
            work(A, true);
            work(new Uuid(5, 6), true);
        }
        master.run(Duration.ofMillis(600), A, B, new Uuid(5, 6));
        assertThat(query(job).status()).isEqualTo(SUCCEEDED);
        assertThat(ok(master.exist("k"))).isTrue();
    }

    @Test
    void a_drain_whose_moves_fail_gives_up_and_says_why() {
        put("k", false);
        Uuid job = ok(drain(List.of("a"), List.of("b"), 1));
        for (int i = 0; i < 6; i++) {
            pass();
            work(A, false);
        }
        assertThat(query(job).status()).isEqualTo(FAILED);
        assertThat(query(job).failedUnits()).isEqualTo(1);
        assertThat(query(job).message()).contains("TRANSFER_FAIL", "given-up=1");
        assertThat(status("a")).isEqualTo(SegmentStatus.OK);
        put("again", false);
    }

    @Test
    void a_cancelled_drain_puts_its_segments_back_to_use() {
        put("k", false);
        Uuid job = ok(drain(List.of("a"), List.of(), 1));
        pass();
        ok(master.apply(new Command.CancelDrainJob(job)));
        assertThat(status("a")).isEqualTo(SegmentStatus.OK);
        assertThat(code(master.apply(new Command.CancelDrainJob(job))))
                .isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_STATUS);
        Uuid second = ok(drain(List.of("a"), List.of(), 1));
        pass();
        ok(
                master.apply(new Command.FetchTasks(new Args.FetchTasks(A, 16))).stream()
                        .findFirst()
                        .map(order -> Outcome.ok(order.id()))
                        .orElseThrow());
        assertThat(code(master.apply(new Command.CancelDrainJob(second))))
                .as("a move is under way")
                .isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_STATUS);
    }

    @Test
    void refused_jobs_have_the_codes_of_the_table() {
        assertThat(code(drain(List.of(), List.of(), 4))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(drain(List.of("a"), List.of(), 0))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(drain(List.of("a", "a"), List.of(), 4)))
                .isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(drain(List.of("a"), List.of("a"), 4))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(drain(List.of("x"), List.of(), 4))).isEqualTo(StoreCode.SEGMENT_NOT_FOUND);
        assertThat(code(drain(List.of("a"), List.of("x"), 4)))
                .isEqualTo(StoreCode.SEGMENT_NOT_FOUND);
        ok(drain(List.of("a"), List.of(), 4));
        assertThat(code(drain(List.of("a"), List.of(), 4)))
                .isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_STATUS);
        Uuid unknown = new Uuid(1, 1);
        assertThat(code(master.apply(new Command.QueryDrainJob(unknown))))
                .isEqualTo(StoreCode.JOB_NOT_FOUND);
        assertThat(code(master.apply(new Command.CancelDrainJob(unknown))))
                .isEqualTo(StoreCode.JOB_NOT_FOUND);
    }

    @Test
    void a_segment_that_is_unmounted_while_draining_is_done() {
        put("k", false);
        Uuid job = ok(drain(List.of("a"), List.of(), 4));
        master.run(Duration.ofSeconds(32), B);
        assertThat(query(job).status()).isEqualTo(SUCCEEDED);
        assertThat(query(job).succeededUnits()).isZero();
    }
}
