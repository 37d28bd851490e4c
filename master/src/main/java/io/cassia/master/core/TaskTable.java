package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.TaskCompletion;
import io.cassia.rpc.mooncake.TaskInfo;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.Outcome.Failed;
import io.cassia.status.StoreCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the master's lock. Copy and move tasks: who shall carry them out, and how they ended
 * (spec mooncake-store 8.1). The master calls nobody; clients fetch their tasks.
 */
final class TaskTable {
    private static final int NONE = ObjectTable.NONE;

    private final CoreState state;
    private final Space space;
    private final Map<Uuid, Task> byId = new HashMap<>();
    private final Map<Uuid, SequencedSet<Task>> pendingOf = new HashMap<>();

    /** The earliest first. */
    private final SequencedSet<Task> pending = new LinkedHashSet<>();

    /** The earliest fetched first. */
    private final SequencedMap<Uuid, Task> processing = new LinkedHashMap<>();

    private final ArrayDeque<Task> finished = new ArrayDeque<>();

    TaskTable(CoreState state, Space space) {
        this.state = state;
        this.space = space;
    }

    Outcome<Uuid> createCopy(Args.CreateCopyTask copy, long epochMs, boolean tellExisting) {
        Failed<Uuid> refused = state.tenants.checkRegistered(copy.tenant());
        if (refused != null) {
            return refused;
        }
        if (copy.targets().isEmpty()) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS, "no target for a copy of key " + copy.key());
        }
        int slot = find(copy.key(), copy.tenant());
        if (slot == NONE) {
            return notFound(copy.key());
        }
        for (String target : copy.targets()) {
            refused =
                    refused == null
                            ? state.segments.checkTarget(target, StoreCode.INVALID_PARAMS)
                            : refused;
        }
        if (refused != null) {
            return refused;
        }
        if (tellExisting && holdsAll(slot, copy.targets())) {
            return Outcome.failed(
                    StoreCode.REPLICA_ALREADY_EXISTS,
                    "key " + copy.key() + " has a replica on each of " + copy.targets());
        }
        MountedSegment source = anySource(slot);
        return source == null
                ? noSource(copy.key())
                : submit(
                        Replication.Kind.COPY,
                        slot,
                        source,
                        List.copyOf(copy.targets()),
                        epochMs,
                        null);
    }

    Outcome<Uuid> createMove(Args.CreateMoveTask move, long epochMs) {
        Failed<Uuid> refused = state.tenants.checkRegistered(move.tenant());
        if (refused != null) {
            return refused;
        }
        if (move.source().equals(move.target())) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "key " + move.key() + ": source and target are both " + move.source());
        }
        int slot = find(move.key(), move.tenant());
        if (slot == NONE) {
            return notFound(move.key());
        }
        refused = state.segments.checkTarget(move.target(), StoreCode.INVALID_PARAMS);
        if (refused != null) {
            return refused;
        }
        MountedSegment source = sourceNamed(slot, move.source());
        return source == null
                ? Outcome.failed(
                        StoreCode.INVALID_PARAMS,
                        "key " + move.key() + " has no complete replica on " + move.source())
                : submit(
                        Replication.Kind.MOVE, slot, source, List.of(move.target()), epochMs, null);
    }

    private boolean holdsAll(int slot, List<String> names) {
        List<String> held =
                space.segmentsOf(slot).stream().map(segment -> segment.wire.name()).toList();
        return held.containsAll(names);
    }

    /** A complete replica's segment, of a client that is alive if there is one. */
    private @Nullable MountedSegment anySource(int slot) {
        MountedSegment suspected = null;
        for (MountedSegment segment : space.segmentsOf(slot)) {
            if (!segment.suspected) {
                return segment;
            }
            suspected = segment;
        }
        return suspected;
    }

    private @Nullable MountedSegment sourceNamed(int slot, String name) {
        for (MountedSegment segment : space.segmentsOf(slot)) {
            if (segment.wire.name().equals(name)) {
                return segment;
            }
        }
        return null;
    }

    /** Whether one more task may be made. */
    boolean isFull() {
        return pending.size() >= state.config.tasks().maxPending();
    }

    Outcome<Uuid> submit(
            Replication.Kind kind,
            int slot,
            MountedSegment source,
            List<String> targets,
            long epochMs,
            @Nullable DrainJob job) {
        ByteString key = ByteString.wrap(state.objects.key(slot));
        if (isFull()) {
            return Outcome.failed(
                    StoreCode.TASK_PENDING_LIMIT_EXCEEDED,
                    "pending tasks="
                            + pending.size()
                            + ", which is the limit; no new one for key "
                            + key);
        }
        Task task =
                new Task(
                        new Uuid(state.nextRandom(), state.nextRandom()),
                        kind,
                        state.tenants.name(state.objects.tenant(slot)),
                        key,
                        source.wire.name(),
                        targets,
                        source.client,
                        epochMs,
                        state.now,
                        job);
        byId.put(task.id, task);
        pending.add(task);
        pendingOf.computeIfAbsent(task.client, client -> new LinkedHashSet<>()).add(task);
        return Outcome.ok(task.id);
    }

    Outcome<TaskInfo> query(Uuid id) {
        Task task = byId.get(id);
        return task == null ? unknown(id) : Outcome.ok(task.info());
    }

    /** Tasks of a client, the earliest first; fewer than wanted at the limit of all clients. */
    List<TaskOrder> fetch(Uuid client, long most) {
        SequencedSet<Task> own = pendingOf.get(client);
        List<TaskOrder> orders = new ArrayList<>();
        while (own != null
                && !own.isEmpty()
                && Long.compareUnsigned(orders.size(), most) < 0
                && processing.size() < state.config.tasks().maxProcessing()) {
            Task task = own.getFirst();
            leavePending(task);
            task.status = Task.Status.PROCESSING;
            task.updatedAt = state.now;
            processing.put(task.id, task);
            orders.add(
                    new TaskOrder(
                            task.id,
                            task.kind == Replication.Kind.MOVE,
                            task.tenant,
                            task.key,
                            task.source,
                            task.targets,
                            task.createdAtMs,
                            state.config.tasks().maxRetryAttempts()));
        }
        return orders;
    }

    private void leavePending(Task task) {
        pending.remove(task);
        SequencedSet<Task> own = pendingOf.get(task.client);
        if (own != null) {
            own.remove(task);
            if (own.isEmpty()) {
                pendingOf.remove(task.client);
            }
        }
    }

    Outcome<Done> complete(Uuid client, TaskCompletion completion) {
        boolean success = completion.status() == Task.Status.SUCCESS.number;
        if (!success && completion.status() != Task.Status.FAILED.number) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "status " + completion.status() + " is not an end of a task");
        }
        Task task = byId.get(completion.id());
        if (task == null) {
            return unknown(completion.id());
        }
        if (!task.client.equals(client)) {
            return Outcome.failed(
                    StoreCode.ILLEGAL_CLIENT,
                    "task " + task.id + " was given to client " + task.client + ", not " + client);
        }
        if (!task.isFinished()) {
            finish(task, success ? Task.Status.SUCCESS : Task.Status.FAILED, completion.message());
        }
        return Outcome.done();
    }

    private void finish(Task task, Task.Status status, String message) {
        leavePending(task);
        processing.remove(task.id);
        task.status = status;
        task.message = message;
        task.updatedAt = state.now;
        finished.add(task);
        if (task.job != null) {
            task.job.ended(task, state.now);
        }
        while (finished.size() > state.config.tasks().maxFinished()) {
            byId.remove(finished.removeFirst().id);
            state.counters.add(CoreCount.TASKS_PRUNED, 1);
        }
    }

    /** Fails what was not fetched or not ended in time; true when there is more. */
    boolean expire(int budget) {
        TaskRules limits = state.config.tasks();
        int left = budget;
        while (limits.pendingNanos() > 0 && !pending.isEmpty() && left > 0) {
            Task first = pending.getFirst();
            if (first.createdAt + limits.pendingNanos() > state.now) {
                break;
            }
            timeOut(first, "pending timeout");
            left--;
        }
        while (limits.processingNanos() > 0 && !processing.isEmpty() && left > 0) {
            Task first = processing.firstEntry().getValue();
            if (first.updatedAt + limits.processingNanos() > state.now) {
                break;
            }
            timeOut(first, "processing timeout");
            left--;
        }
        return left == 0;
    }

    private void timeOut(Task task, String message) {
        state.counters.add(CoreCount.TASKS_TIMED_OUT, 1);
        finish(task, Task.Status.FAILED, message);
    }

    /** A client is dead: what it had to do has failed. */
    void failAll(Uuid client) {
        SequencedSet<Task> own = pendingOf.get(client);
        List<Task> lost = own == null ? new ArrayList<>() : new ArrayList<>(own);
        Iterator<Task> working = processing.values().iterator();
        while (working.hasNext()) {
            Task task = working.next();
            if (task.client.equals(client)) {
                lost.add(task);
            }
        }
        for (Task task : lost) {
            finish(task, Task.Status.FAILED, "client expired");
        }
    }

    /** Fails a task that nobody needs any more, if it has not been fetched yet. */
    void cancel(Uuid id) {
        Task task = byId.get(id);
        if (task != null && task.status == Task.Status.PENDING) {
            finish(task, Task.Status.FAILED, "cancelled");
        }
    }

    private int find(ByteString key, ByteString tenant) {
        int number = state.tenants.find(tenant);
        int slot = number < 0 ? NONE : state.objects.find(number, key.array());
        return slot != NONE && space.isValid(slot) ? slot : NONE;
    }

    private static <T> Failed<T> notFound(ByteString key) {
        return Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "no object has the key " + key);
    }

    private static <T> Failed<T> noSource(ByteString key) {
        return Outcome.failed(
                StoreCode.REPLICA_IS_NOT_READY,
                "key " + key + " has no complete replica to copy from yet");
    }

    private static <T> Failed<T> unknown(Uuid id) {
        return Outcome.failed(
                StoreCode.TASK_NOT_FOUND, "no task has the id " + id + "; it may be forgotten");
    }

    void digest(Digest digest) {
        pending.forEach(task -> task.digest(digest));
        processing.values().forEach(task -> task.digest(digest));
        finished.forEach(task -> task.digest(digest));
    }

    int pendingCount() {
        return pending.size();
    }

    int processingCount() {
        return processing.size();
    }

    int finishedCount() {
        return finished.size();
    }

    /** Age of the task that waits longest, in milliseconds; 0 when none does. */
    long oldestPendingMs() {
        return pending.isEmpty()
                ? 0
                : TimeUnit.NANOSECONDS.toMillis(state.now - pending.getFirst().createdAt);
    }
}
