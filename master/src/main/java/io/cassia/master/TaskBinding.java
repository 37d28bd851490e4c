package io.cassia.master;

import io.cassia.base.Clock;
import io.cassia.master.core.Command;
import io.cassia.rpc.RpcServer;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * Immutable. Copies, moves and their tasks as commands to the loop (spec mooncake-store 3.9, 8.1).
 */
final class TaskBinding {
    private final MasterLoop loop;
    private final Clock clock;
    private final PutTerm term;
    private final MeterRegistry meters;

    TaskBinding(MasterLoop loop, Clock clock, PutTerm term, MeterRegistry meters) {
        this.loop = loop;
        this.clock = clock;
        this.term = term;
        this.meters = meters;
    }

    void register(RpcServer.Builder server) {
        copies(server);
        moves(server);
        tasks(server);
    }

    private OperationMeter single(String operation) {
        return OperationMeter.single(meters, operation);
    }

    private void copies(RpcServer.Builder server) {
        OperationMeter start = single("copy_start");
        OperationMeter end = single("copy_end");
        OperationMeter revoke = single("copy_revoke");
        server.registerWithContext(
                        MasterMethods.COPY_START,
                        term.told(a -> start.count(loop.apply(new Command.CopyStart(a)))))
                .registerWithContext(
                        MasterMethods.COPY_END,
                        (a, context) ->
                                end.count(
                                        loop.apply(new Command.CopyEnd(a, PutIds.first(context)))))
                .registerWithContext(
                        MasterMethods.COPY_REVOKE,
                        (a, context) ->
                                revoke.count(
                                        loop.apply(
                                                new Command.CopyRevoke(a, PutIds.first(context)))));
    }

    private void moves(RpcServer.Builder server) {
        OperationMeter start = single("move_start");
        OperationMeter end = single("move_end");
        OperationMeter revoke = single("move_revoke");
        server.registerWithContext(
                        MasterMethods.MOVE_START,
                        term.told(a -> start.count(loop.apply(new Command.MoveStart(a)))))
                .registerWithContext(
                        MasterMethods.MOVE_END,
                        (a, context) ->
                                end.count(
                                        loop.apply(new Command.MoveEnd(a, PutIds.first(context)))))
                .registerWithContext(
                        MasterMethods.MOVE_REVOKE,
                        (a, context) ->
                                revoke.count(
                                        loop.apply(
                                                new Command.MoveRevoke(a, PutIds.first(context)))));
    }

    private void tasks(RpcServer.Builder server) {
        OperationMeter copy = single("create_copy_task");
        OperationMeter move = single("create_move_task");
        OperationMeter query = single("query_task");
        OperationMeter fetch = single("fetch_tasks");
        OperationMeter update = single("update_task");
        server.registerWithContext(
                        MasterMethods.CREATE_COPY_TASK,
                        (a, context) ->
                                copy.count(
                                        loop.apply(
                                                new Command.CreateCopyTask(
                                                        a,
                                                        clock.epochMillis(),
                                                        !context.request().isEmpty()))))
                .register(
                        MasterMethods.CREATE_MOVE_TASK,
                        a ->
                                move.count(
                                        loop.apply(
                                                new Command.CreateMoveTask(
                                                        a, clock.epochMillis()))))
                .register(
                        MasterMethods.QUERY_TASK,
                        id -> query.count(loop.apply(new Command.QueryTask(id))))
                .register(
                        MasterMethods.FETCH_TASKS,
                        a ->
                                fetch.count(
                                        Outcome.ok(
                                                loop.apply(new Command.FetchTasks(a)).stream()
                                                        .map(TaskPayload::assignment)
                                                        .toList())))
                .register(
                        MasterMethods.MARK_TASK_TO_COMPLETE,
                        a -> update.count(loop.apply(new Command.MarkTaskToComplete(a))));
    }
}
