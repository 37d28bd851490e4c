package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.B;
import static io.cassia.master.core.Harness.KIB;
import static io.cassia.master.core.Harness.TENANT;
import static io.cassia.master.core.Harness.code;
import static io.cassia.master.core.Harness.key;
import static io.cassia.master.core.Harness.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.CopyStartResult;
import io.cassia.rpc.mooncake.MoveStartResult;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.TaskCompletion;
import io.cassia.rpc.mooncake.TaskInfo;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Copies, moves and the tasks that lead to them (spec mooncake-store 3.9, 8.1). */
class CopyTest {
    private Harness master = new Harness();
    private Segment onA;
    private Segment onB;

    @BeforeEach
    void mount() {
        onA = master.mount(A, 11, "a", 64 * KIB);
        onB = master.mount(B, 13, "b", 64 * KIB);
        put("k");
    }

    @AfterEach
    void verify() {
        CoreChecks.verify(master.core);
    }

    private void put(String key) {
        master.put(key, KIB, Harness.config(1, 0, OptionalLong.empty(), false, "a"));
    }

    private Outcome<CopyStartResult> copy(String key, String source, String... targets) {
        return master.apply(
                new Command.CopyStart(
                        new Args.CopyStart(A, key(key), TENANT, source, List.of(targets))));
    }

    private Outcome<MoveStartResult> move(String key, String source, String target) {
        return master.apply(
                new Command.MoveStart(new Args.MoveStart(A, key(key), TENANT, source, target)));
    }

    private static Args.ClientKey of(Uuid client, String key) {
        return new Args.ClientKey(client, key(key), TENANT);
    }

    private Outcome<Done> endCopy(Uuid client, String key) {
        return master.apply(new Command.CopyEnd(of(client, key)));
    }

    private Outcome<Done> endMove(Uuid client, String key) {
        return master.apply(new Command.MoveEnd(of(client, key)));
    }

    private List<Long> replicas(String key) {
        return ok(master.get(key)).replicas().stream().map(ReplicaDescriptor::id).toList();
    }

    @Test
    void a_copy_becomes_a_replica_at_its_end_and_not_before() {
        CopyStartResult started = ok(copy("k", "a", "b"));
        assertThat(started.targets()).hasSize(1);
        assertThat(replicas("k")).containsExactly(started.source().id());
        ok(endCopy(A, "k"));
        assertThat(replicas("k"))
                .containsExactly(started.source().id(), started.targets().getFirst().id());
        assertThat(master.stats().usedBytes()).isEqualTo(2 * KIB);
        assertThat(ok(copy("k", "a", "b")).targets()).as("it is there").isEmpty();
        ok(endCopy(A, "k"));
    }

    @Test
    void a_move_takes_the_source_away_when_its_readers_are_done() {
        ok(master.get("k"));
        MoveStartResult started = ok(move("k", "a", "b"));
        ok(endMove(A, "k"));
        assertThat(replicas("k")).containsExactly(started.target().orElseThrow().id());
        assertThat(master.stats().usedBytes()).as("under lease").isEqualTo(2 * KIB);
        master.run(Duration.ofSeconds(11), A, B);
        assertThat(master.stats().usedBytes()).isEqualTo(KIB);
    }

    @Test
    void refused_starts_have_the_codes_of_the_table_in_its_order() {
        assertThat(code(copy("none", "a", "nowhere"))).isEqualTo(StoreCode.SEGMENT_NOT_FOUND);
        ok(
                master.apply(
                        new Command.GracefulUnmountSegment(
                                new Args.GracefulUnmountSegment(onB.id(), B, 60_000))));
        assertThat(code(copy("none", "a", "b"))).isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_STATUS);
        master.mount(B, 15, "c", KIB);
        assertThat(code(copy("none", "a", "c"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(code(copy("k", "c", "a"))).isEqualTo(StoreCode.REPLICA_NOT_FOUND);
        assertThat(code(move("k", "a", "a"))).isEqualTo(StoreCode.INVALID_PARAMS);
        ok(copy("k", "a", "c"));
        assertThat(code(copy("k", "a", "c"))).isEqualTo(StoreCode.OBJECT_HAS_REPLICATION_TASK);
        assertThat(code(move("k", "a", "c"))).isEqualTo(StoreCode.OBJECT_HAS_REPLICATION_TASK);
        put("full");
        assertThat(code(copy("full", "a", "c"))).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        ok(master.upsert(A, "full", KIB));
        assertThat(code(copy("full", "a", "c"))).isEqualTo(StoreCode.OBJECT_REPLICA_BUSY);
        ok(master.start(A, "new", KIB));
        assertThat(code(copy("new", "a", "c"))).isEqualTo(StoreCode.REPLICA_NOT_FOUND);
    }

    @Test
    void refused_ends_have_the_codes_of_the_table() {
        assertThat(code(endCopy(A, "none"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(code(endCopy(A, "k"))).isEqualTo(StoreCode.OBJECT_NO_REPLICATION_TASK);
        ok(copy("k", "a", "b"));
        assertThat(code(endCopy(B, "k"))).isEqualTo(StoreCode.ILLEGAL_CLIENT);
        assertThat(code(endMove(A, "k"))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(master.apply(new Command.MoveRevoke(of(A, "k")))))
                .isEqualTo(StoreCode.INVALID_PARAMS);
        ok(master.apply(new Command.CopyRevoke(of(A, "k"))));
        assertThat(code(endCopy(A, "k"))).isEqualTo(StoreCode.OBJECT_NO_REPLICATION_TASK);
    }

    @Test
    void what_is_taken_back_keeps_its_space_until_nobody_can_be_writing_to_it() {
        for (boolean move : List.of(false, true)) {
            master.run(Duration.ofSeconds(5), A, B);
            Outcome<?> started = move ? move("k", "a", "b") : copy("k", "a", "b");
            assertThat(code(started)).isEqualTo(StoreCode.OK);
            master.run(Duration.ofSeconds(100), A, B);
            ok(
                    master.apply(
                            move
                                    ? new Command.MoveRevoke(of(A, "k"))
                                    : new Command.CopyRevoke(of(A, "k"))));
            assertThat(code(master.remove("k", false)))
                    .as("nothing is under way")
                    .isEqualTo(StoreCode.OK);
            put("k");
            master.run(Duration.ofSeconds(499), A, B);
            assertThat(master.stats().usedBytes()).isEqualTo(2 * KIB);
            master.run(Duration.ofSeconds(2), A, B);
            assertThat(master.stats().usedBytes()).as("10 min after the Start").isEqualTo(KIB);
        }
    }

    private Outcome<Done> endCopy(CopyStartResult started) {
        return master.apply(new Command.CopyEnd(of(A, "k"), started.targets().getFirst().id()));
    }

    @Test
    void a_late_end_of_an_earlier_copy_ends_no_other() {
        CopyStartResult first = ok(copy("k", "a", "b"));
        ok(master.apply(new Command.CopyRevoke(of(A, "k"), first.targets().getFirst().id())));
        CopyStartResult second = ok(copy("k", "a", "b"));
        assertThat(code(endCopy(first))).isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(
                        code(
                                master.apply(
                                        new Command.CopyRevoke(
                                                of(A, "k"), first.targets().getFirst().id()))))
                .isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(replicas("k")).hasSize(1);
        ok(endCopy(second));
        assertThat(replicas("k")).hasSize(2);
        assertThat(code(endCopy(second))).isEqualTo(StoreCode.OBJECT_NO_REPLICATION_TASK);
    }

    @Test
    void a_move_to_where_a_replica_was_is_named_by_its_source() {
        ok(copy("k", "a", "b"));
        ok(endCopy(A, "k"));
        MoveStartResult there = ok(move("k", "a", "b"));
        long number = there.source().id();
        ok(master.apply(new Command.MoveRevoke(of(A, "k"), number)));
        ok(master.unmount(onB, B));
        master.mount(B, 17, "c", 64 * KIB);
        MoveStartResult toC = ok(move("k", "a", "c"));
        assertThat(code(master.apply(new Command.MoveEnd(of(A, "k"), number))))
                .as("the bytes are not there yet")
                .isEqualTo(StoreCode.INVALID_WRITE);
        ok(master.apply(new Command.MoveEnd(of(A, "k"), toC.target().orElseThrow().id())));
        assertThat(replicas("k")).containsExactly(toC.target().orElseThrow().id());
    }

    @Test
    void while_a_copy_is_under_way_the_object_stays_as_it_is() {
        ok(copy("k", "a", "b"));
        assertThat(code(master.remove("k", true))).isEqualTo(StoreCode.REPLICA_IS_NOT_READY);
        assertThat(code(master.upsert(B, "k", KIB)))
                .isEqualTo(StoreCode.OBJECT_HAS_REPLICATION_TASK);
        for (int i = 0; i < 200; i++) {
            put("filler" + i);
        }
        assertThat(ok(master.exist("k"))).as("not evicted").isTrue();
        ok(endCopy(A, "k"));
        assertThat(ok(master.exist("k"))).isTrue();
        ok(copy("k", "a", "b"));
        assertThat(code(master.remove("k", true)))
                .as("nothing is being written")
                .isEqualTo(StoreCode.OBJECT_HAS_REPLICATION_TASK);
    }

    @Test
    void a_copy_whose_source_or_target_goes_away_is_gone() {
        put("l");
        ok(copy("k", "a", "b"));
        ok(move("l", "a", "b"));
        ok(master.unmount(onB, B));
        assertThat(code(endCopy(A, "k"))).isEqualTo(StoreCode.REPLICA_IS_GONE);
        assertThat(code(endMove(A, "l"))).isEqualTo(StoreCode.REPLICA_IS_GONE);
        assertThat(replicas("k")).hasSize(1);
        assertThat(replicas("l")).hasSize(1);
        master.mount(B, 17, "c", 64 * KIB);
        ok(copy("k", "a", "c"));
        ok(endCopy(A, "k"));
        ok(copy("k", "c", "a"));
        ok(endCopy(A, "k"));
        master.mount(B, 19, "d", 64 * KIB);
        ok(copy("k", "a", "d"));
        ok(master.unmount(onA, A));
        assertThat(code(endCopy(A, "k"))).isEqualTo(StoreCode.REPLICA_IS_GONE);
        assertThat(replicas("k")).as("the copy on c").hasSize(1);
    }

    @Test
    void a_copy_that_never_ends_is_given_up() {
        ok(copy("k", "a", "b"));
        master.run(Duration.ofSeconds(601), A, B);
        assertThat(code(endCopy(A, "k"))).isEqualTo(StoreCode.OBJECT_NO_REPLICATION_TASK);
        assertThat(master.stats().usedBytes()).isEqualTo(KIB);
        ok(copy("k", "a", "b"));
        master.run(Duration.ofSeconds(31), B);
        assertThat(ok(master.exist("k"))).as("its only node is dead").isFalse();
        assertThat(master.stats().usedBytes()).as("the dead client may still write").isEqualTo(KIB);
    }

    private Outcome<Uuid> copyTask(String key, String... targets) {
        return master.apply(
                new Command.CreateCopyTask(
                        new Args.CreateCopyTask(key(key), TENANT, List.of(targets)), 1000));
    }

    private List<TaskOrder> fetch(Uuid client) {
        return master.apply(new Command.FetchTasks(new Args.FetchTasks(client, 16)));
    }

    private Outcome<Done> complete(Uuid client, Uuid task, int status, String message) {
        return master.apply(
                new Command.MarkTaskToComplete(
                        new Args.MarkTaskToComplete(
                                client, new TaskCompletion(task, status, message))));
    }

    private TaskInfo query(Uuid task) {
        return ok(master.apply(new Command.QueryTask(task)));
    }

    @Test
    void a_task_goes_to_the_owner_of_the_source_and_ends_by_its_word() {
        Uuid task = ok(copyTask("k", "b"));
        assertThat(query(task).status()).isZero();
        assertThat(fetch(B)).isEmpty();
        TaskOrder order = fetch(A).getFirst();
        assertThat(order)
                .isEqualTo(
                        new TaskOrder(task, false, TENANT, key("k"), "a", List.of("b"), 1000, 10));
        assertThat(fetch(A)).as("once").isEmpty();
        assertThat(query(task).status()).isEqualTo(1);
        assertThat(code(complete(B, task, 3, ""))).isEqualTo(StoreCode.ILLEGAL_CLIENT);
        assertThat(code(complete(A, task, 1, ""))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(complete(A, new Uuid(5, 5), 3, ""))).isEqualTo(StoreCode.TASK_NOT_FOUND);
        master.sleep(Duration.ofSeconds(2));
        ok(complete(A, task, 3, "done"));
        ok(complete(A, task, 2, "again"));
        assertThat(query(task).status()).isEqualTo(3);
        assertThat(query(task).message()).isEqualTo("done");
        assertThat(query(task).updatedAtMs()).isEqualTo(3000);
    }

    @Test
    void refused_tasks_have_the_codes_of_the_table() {
        assertThat(code(copyTask("k"))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(copyTask("none", "b"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(code(copyTask("k", "nowhere"))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(moveTask("k", "a", "a"))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(moveTask("k", "b", "a"))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(moveTask("none", "a", "b"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        ok(moveTask("k", "a", "b"));
        ok(master.start(A, "new", 1));
        assertThat(code(copyTask("new", "b"))).isEqualTo(StoreCode.REPLICA_IS_NOT_READY);
    }

    private Outcome<Uuid> moveTask(String key, String source, String target) {
        return master.apply(
                new Command.CreateMoveTask(
                        new Args.CreateMoveTask(key(key), TENANT, source, target), 0));
    }

    @Test
    void tasks_have_limits_and_time_outs() {
        master =
                new Harness(
                        settings -> {
                            settings.tasks =
                                    new TaskRules(2, 1, 2, 60_000_000_000L, 30_000_000_000L, 10);
                            return settings;
                        });
        mount();
        Uuid first = ok(copyTask("k", "b"));
        Uuid second = ok(copyTask("k", "b"));
        assertThat(code(copyTask("k", "b"))).isEqualTo(StoreCode.TASK_PENDING_LIMIT_EXCEEDED);
        assertThat(fetch(A)).as("one at a time").hasSize(1);
        master.run(Duration.ofSeconds(31), A, B);
        assertThat(query(first).message()).isEqualTo("processing timeout");
        master.run(Duration.ofSeconds(30), A, B);
        assertThat(query(second).message()).isEqualTo("pending timeout");
        ok(copyTask("k", "b"));
        complete(A, fetch(A).getFirst().id(), 3, "").orThrow();
        assertThat(code(master.apply(new Command.QueryTask(first))))
                .as("the oldest of three is forgotten")
                .isEqualTo(StoreCode.TASK_NOT_FOUND);
    }

    @Test
    void tasks_of_a_dead_client_fail() {
        Uuid task = ok(copyTask("k", "b"));
        master.run(Duration.ofSeconds(31), B);
        assertThat(query(task).message()).isEqualTo("client expired");
    }

    @Test
    void a_move_to_where_a_replica_was_keeps_the_source_when_that_went_away() {
        ok(copy("k", "a", "b"));
        ok(endCopy(A, "k"));
        MoveStartResult started = ok(move("k", "a", "b"));
        assertThat(started.target()).as("it is there").isEmpty();
        ok(master.unmount(onB, B));
        assertThat(code(endMove(A, "k"))).isEqualTo(StoreCode.REPLICA_IS_GONE);
        assertThat(replicas("k")).containsExactly(started.source().id());
    }
}
