package io.cassia.lab.codes;

import static io.cassia.lab.codes.MasterUnderTest.OTHER;
import static io.cassia.lab.codes.MasterUnderTest.TENANT;
import static io.cassia.lab.codes.MasterUnderTest.WRITER;
import static io.cassia.lab.codes.MasterUnderTest.key;

import io.cassia.lab.coverage.Coverage;
import io.cassia.lab.coverage.Covers;
import io.cassia.master.MasterConfig;
import io.cassia.master.TaskLimits;
import io.cassia.rpc.cassia.CassiaMessages.CreateDrainJob;
import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.TaskCompletion;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Codes of copies, moves, tasks and drain jobs, over the RPC wire. */
class TaskCodesTest {
    private MasterUnderTest master;

    @BeforeEach
    void start() {
        master =
                new MasterUnderTest(
                        MasterConfig.builder()
                                .tasks(
                                        new TaskLimits(
                                                2,
                                                10,
                                                10,
                                                Duration.ofMinutes(5),
                                                Duration.ofMinutes(5),
                                                10)));
        master.mount(11, "a", WRITER);
        master.mount(13, "b", OTHER);
        master.put("k", "a");
    }

    @AfterEach
    void stop() {
        master.close();
    }

    private Outcome<?> copy(String key, String source, String target) {
        return master.call(
                MasterMethods.COPY_START,
                new Args.CopyStart(WRITER, key(key), TENANT, source, List.of(target)));
    }

    private Outcome<?> endCopy(String key) {
        return master.call(MasterMethods.COPY_END, new Args.ClientKey(WRITER, key(key), TENANT));
    }

    private Outcome<Uuid> task(String key, String target) {
        return master.call(
                MasterMethods.CREATE_COPY_TASK,
                new Args.CreateCopyTask(key(key), TENANT, List.of(target)));
    }

    private Outcome<?> upsert(String key) {
        return master.call(
                MasterMethods.UPSERT_START,
                new Args.PutStart(WRITER, key(key), 10, ReplicateConfig.DEFAULT, TENANT));
    }

    @Test
    @Covers(
            store = {StoreCode.OBJECT_HAS_REPLICATION_TASK, StoreCode.OK},
            scenario = "An object is replaced, or copied again, while it is being copied.")
    void object_that_is_being_copied(Coverage coverage) {
        coverage.expect(copy("k", "a", "b"), StoreCode.OK);
        coverage.expect(copy("k", "a", "b"), StoreCode.OBJECT_HAS_REPLICATION_TASK);
        coverage.expect(upsert("k"), StoreCode.OBJECT_HAS_REPLICATION_TASK);
        coverage.expect(endCopy("k"), StoreCode.OK);
    }

    @Test
    @Covers(
            store = {StoreCode.OBJECT_NO_REPLICATION_TASK, StoreCode.OK},
            scenario = "A copy is ended twice.")
    void copy_that_has_ended(Coverage coverage) {
        coverage.expect(copy("k", "a", "b"), StoreCode.OK);
        coverage.expect(endCopy("k"), StoreCode.OK);
        coverage.expect(endCopy("k"), StoreCode.OBJECT_NO_REPLICATION_TASK);
    }

    @Test
    @Covers(
            store = StoreCode.REPLICA_NOT_FOUND,
            scenario = "An object is copied from a segment that does not hold it.")
    void copy_from_the_wrong_place(Coverage coverage) {
        coverage.expect(copy("k", "b", "a"), StoreCode.REPLICA_NOT_FOUND);
    }

    @Test
    @Covers(
            store = {StoreCode.REPLICA_IS_GONE, StoreCode.OK},
            scenario = "The target of a copy is unmounted before the copy ends.")
    void copy_whose_target_is_unmounted(Coverage coverage) {
        coverage.expect(copy("k", "a", "b"), StoreCode.OK);
        coverage.expect(
                master.call(
                        MasterMethods.UNMOUNT_SEGMENT,
                        new Args.UnmountSegment(new Uuid(13, 13), OTHER)),
                StoreCode.OK);
        coverage.expect(endCopy("k"), StoreCode.REPLICA_IS_GONE);
    }

    @Test
    @Covers(
            store = {StoreCode.REPLICA_ALREADY_EXISTS, StoreCode.OK},
            scenario = "A copy is ordered to a segment that holds a replica already.")
    void copy_to_where_it_is(Coverage coverage) {
        coverage.expect(task("k", "a"), StoreCode.REPLICA_ALREADY_EXISTS);
        coverage.expect(
                master.callPlain(
                        MasterMethods.CREATE_COPY_TASK,
                        new Args.CreateCopyTask(key("k"), TENANT, List.of("a"))),
                StoreCode.OK);
    }

    @Test
    @Covers(
            store = {StoreCode.OBJECT_REPLICA_BUSY, StoreCode.OK},
            scenario = "An object is copied while a new version of it is being written.")
    void copy_of_what_is_being_replaced(Coverage coverage) {
        coverage.expect(upsert("k"), StoreCode.OK);
        coverage.expect(copy("k", "a", "b"), StoreCode.OBJECT_REPLICA_BUSY);
    }

    @Test
    @Covers(
            store = StoreCode.TASK_NOT_FOUND,
            scenario = "The state of a task is asked, and its end reported, that there is not.")
    void unknown_task(Coverage coverage) {
        Uuid unknown = new Uuid(7, 7);
        coverage.expect(master.call(MasterMethods.QUERY_TASK, unknown), StoreCode.TASK_NOT_FOUND);
        coverage.expect(
                master.call(
                        MasterMethods.MARK_TASK_TO_COMPLETE,
                        new Args.MarkTaskToComplete(WRITER, new TaskCompletion(unknown, 3, ""))),
                StoreCode.TASK_NOT_FOUND);
    }

    @Test
    @Covers(
            store = {StoreCode.TASK_PENDING_LIMIT_EXCEEDED, StoreCode.OK},
            scenario = "Tasks are ordered faster than any client fetches them.")
    void too_many_tasks(Coverage coverage) {
        coverage.expect(task("k", "b"), StoreCode.OK);
        coverage.expect(task("k", "b"), StoreCode.OK);
        coverage.expect(task("k", "b"), StoreCode.TASK_PENDING_LIMIT_EXCEEDED);
        coverage.expect(
                master.call(MasterMethods.FETCH_TASKS, new Args.FetchTasks(WRITER, 1)),
                StoreCode.OK);
        coverage.expect(task("k", "b"), StoreCode.OK);
    }

    private Outcome<Uuid> drain(String segment) {
        return master.call(
                CassiaMethods.CREATE_DRAIN_JOB, new CreateDrainJob(List.of(segment), List.of(), 4));
    }

    @Test
    @Covers(
            store = StoreCode.JOB_NOT_FOUND,
            scenario = "A drain job is asked for, and cancelled, that there is not.")
    void unknown_job(Coverage coverage) {
        Uuid unknown = new Uuid(7, 7);
        coverage.expect(
                master.call(CassiaMethods.QUERY_DRAIN_JOB, unknown), StoreCode.JOB_NOT_FOUND);
        coverage.expect(
                master.call(CassiaMethods.CANCEL_DRAIN_JOB, unknown), StoreCode.JOB_NOT_FOUND);
    }

    @Test
    @Covers(
            store = {StoreCode.UNAVAILABLE_IN_CURRENT_STATUS, StoreCode.OK},
            scenario =
                    "An object is copied to a segment that is being drained; it is drained twice.")
    void copy_to_a_draining_segment(Coverage coverage) {
        coverage.expect(drain("b"), StoreCode.OK);
        coverage.expect(copy("k", "a", "b"), StoreCode.UNAVAILABLE_IN_CURRENT_STATUS);
        coverage.expect(drain("b"), StoreCode.UNAVAILABLE_IN_CURRENT_STATUS);
    }
}
