package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.rpc.RpcMethod;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.CopyStartResult;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.MoveStartResult;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.TaskAssignment;
import io.cassia.rpc.mooncake.TaskCompletion;
import io.cassia.rpc.mooncake.TaskInfo;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.Transfers.Piece;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.TransferEngine;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Does what the master orders of a node: asks for tasks once a second and copies or moves replicas
 * out of this node's memory (spec mooncake-store 8.1). Guarded.
 */
final class TaskRunner implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(TaskRunner.class.getName());
    private static final Duration PERIOD = Duration.ofSeconds(1);
    private static final Duration TASK_TIMEOUT = Duration.ofSeconds(60);
    private static final long FETCHED = 16;
    private static final int THREADS = 4;
    private static final int QUEUED = 64;
    private static final int COPY = 0;
    private static final int MOVE = 1;
    private static final int FAILED = 2;
    private static final int SUCCESS = 3;
    private static final JsonMapper JSON = JsonMapper.shared();

    private final Uuid client;
    private final TransferEngine engine;
    private final Mounts mounts;
    private final Transfers transfers;
    private final MasterLink master;
    private final Clock clock;
    private final Counter done;
    private final Counter failures;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread poller =
            Thread.ofPlatform().daemon().name("cassia-tasks").unstarted(this::poll);
    private final ThreadPoolExecutor workers =
            new ThreadPoolExecutor(
                    THREADS,
                    THREADS,
                    10,
                    TimeUnit.SECONDS,
                    new ArrayBlockingQueue<>(QUEUED),
                    Thread.ofPlatform().daemon().name("cassia-task-", 0).factory());

    TaskRunner(
            Uuid client,
            TransferEngine engine,
            Mounts mounts,
            Transfers transfers,
            MasterLink master,
            Clock clock,
            MeterRegistry meters) {
        this.client = client;
        this.engine = engine;
        this.mounts = mounts;
        this.transfers = transfers;
        this.master = master;
        this.clock = clock;
        this.done = counter(meters, "done", "Copies and moves of replicas that succeeded");
        this.failures = counter(meters, "failed", "Copies and moves of replicas that failed");
        workers.allowCoreThreadTimeOut(true);
    }

    private static Counter counter(MeterRegistry meters, String name, String description) {
        return Counter.builder("cassia_node_tasks_" + name)
                .description(description)
                .register(meters);
    }

    /** How a task ended; null while it has not. The message begins with the label of its code. */
    static @Nullable Outcome<Done> outcome(TaskInfo task) {
        if (task.status() == SUCCESS) {
            return Outcome.done();
        }
        if (task.status() != FAILED) {
            return null;
        }
        String label = task.message().split(":", 2)[0].strip();
        StoreCode code =
                Arrays.stream(StoreCode.values())
                        .filter(known -> known.label().equals(label) && !known.isOk())
                        .findFirst()
                        .orElse(StoreCode.INTERNAL_ERROR);
        return Outcome.failed(code, "task " + task.id() + ": " + task.message());
    }

    void start() {
        poller.start();
    }

    private void poll() {
        while (!pause()) {
            try {
                if (workers.getQueue().remainingCapacity() >= FETCHED) {
                    fetch();
                }
            } catch (RuntimeException bug) {
                LOG.log(Level.ERROR, "fetching tasks broke client=" + client, bug);
            }
        }
    }

    private boolean pause() {
        try {
            return closing.await(PERIOD.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    private void fetch() {
        Outcome<List<TaskAssignment>> fetched =
                master.call(
                        MasterMethods.FETCH_TASKS,
                        new Args.FetchTasks(client, FETCHED),
                        Deadline.after(clock, PERIOD.multipliedBy(3)));
        // A master that cannot be asked is the heartbeat's to report.
        if (fetched instanceof Outcome.Ok<List<TaskAssignment>>(List<TaskAssignment> tasks)) {
            for (TaskAssignment task : tasks) {
                try {
                    workers.execute(() -> run(task));
                } catch (RejectedExecutionException e) {
                    complete(
                            task,
                            Outcome.failed(
                                    StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                                    "the node is closing"));
                }
            }
        }
    }

    private void run(TaskAssignment task) {
        try {
            complete(task, execute(task));
        } catch (RuntimeException bug) {
            LOG.log(Level.ERROR, "task broke id=" + task.id(), bug);
            complete(task, Outcome.failed(StoreCode.INTERNAL_ERROR, bug.toString()));
        }
    }

    private void complete(TaskAssignment task, Outcome<Done> outcome) {
        (outcome.isOk() ? done : failures).increment();
        TaskCompletion completion =
                switch (outcome) {
                    case Outcome.Ok<Done> ok -> new TaskCompletion(task.id(), SUCCESS, "");
                    case Outcome.Failed<Done>(Code code, String detail) ->
                            new TaskCompletion(task.id(), FAILED, code.label() + ": " + detail);
                };
        if (master.call(
                        MasterMethods.MARK_TASK_TO_COMPLETE,
                        new Args.MarkTaskToComplete(client, completion),
                        Deadline.after(clock, TASK_TIMEOUT))
                instanceof Outcome.Failed<Done>(Code code, String detail)) {
            LOG.log(
                    Level.WARNING,
                    "task not reported id={0} code={1} detail={2}",
                    task.id(),
                    code.label(),
                    detail);
        }
    }

    /** A key with its tenant. */
    private record Subject(ByteString key, ByteString tenant) {
        Args.ClientKey by(Uuid client) {
            return new Args.ClientKey(client, key, tenant);
        }
    }

    /** Only a full target is worth another try: it may be evicting. */
    private Outcome<Done> execute(TaskAssignment task) {
        JsonNode payload;
        try {
            payload = JSON.readTree(task.payload());
        } catch (JacksonException e) {
            return Outcome.failed(StoreCode.INVALID_PARAMS, "payload is no JSON: " + e);
        }
        Deadline deadline = Deadline.after(clock, TASK_TIMEOUT);
        Outcome<Done> outcome = attempt(task.type(), payload, deadline);
        for (int retry = 0;
                retry < task.maxRetryAttempts()
                        && outcome instanceof Outcome.Failed<Done> failed
                        && failed.code() == StoreCode.NO_AVAILABLE_HANDLE
                        && !deadline.hasPassed()
                        && closing.getCount() > 0;
                retry++) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50L * (retry + 1)));
            outcome = attempt(task.type(), payload, deadline);
        }
        return outcome;
    }

    private Outcome<Done> attempt(int type, JsonNode payload, Deadline deadline) {
        Subject subject =
                new Subject(
                        key(payload), ByteString.of(payload.path("tenant_id").asString("default")));
        String source = payload.path("source").asString("");
        return switch (type) {
            case COPY -> copy(subject, source, payload, deadline);
            case MOVE -> move(subject, source, payload.path("target").asString(""), deadline);
            default -> Outcome.failed(StoreCode.INVALID_PARAMS, "task type " + type);
        };
    }

    /** A key that is not UTF-8 comes as bytes beside its text. */
    private static ByteString key(JsonNode payload) {
        String bytes = payload.path("cassia_key_hex").asString("");
        return bytes.isEmpty()
                ? ByteString.of(payload.path("key").asString(""))
                : ByteString.wrap(HexFormat.of().parseHex(bytes));
    }

    private Outcome<Done> copy(
            Subject subject, String source, JsonNode payload, Deadline deadline) {
        List<String> targets = new ArrayList<>();
        payload.path("targets").forEach(target -> targets.add(target.asString("")));
        Outcome<CopyStartResult> started =
                master.call(
                        MasterMethods.COPY_START,
                        new Args.CopyStart(client, subject.key, subject.tenant, source, targets),
                        deadline);
        return started.then(
                copy -> {
                    Outcome<Done> written = write(copy.source(), copy.targets(), deadline);
                    return finish(
                            written,
                            MasterMethods.COPY_END,
                            MasterMethods.COPY_REVOKE,
                            subject,
                            number(copy.source(), copy.targets()),
                            deadline);
                });
    }

    private Outcome<Done> move(Subject subject, String source, String target, Deadline deadline) {
        Outcome<MoveStartResult> started =
                master.call(
                        MasterMethods.MOVE_START,
                        new Args.MoveStart(client, subject.key, subject.tenant, source, target),
                        deadline);
        return started.then(
                move -> {
                    List<ReplicaDescriptor> targets = move.target().map(List::of).orElse(List.of());
                    Outcome<Done> written = write(move.source(), targets, deadline);
                    return finish(
                            written,
                            MasterMethods.MOVE_END,
                            MasterMethods.MOVE_REVOKE,
                            subject,
                            number(move.source(), targets),
                            deadline);
                });
    }

    /** What the End calls a copy or move. */
    private static long number(ReplicaDescriptor source, List<ReplicaDescriptor> targets) {
        return targets.isEmpty() ? source.id() : targets.getFirst().id();
    }

    private Outcome<Done> finish(
            Outcome<Done> written,
            RpcMethod<Args.ClientKey, Outcome<Done>> end,
            RpcMethod<Args.ClientKey, Outcome<Done>> revoke,
            Subject subject,
            long number,
            Deadline deadline) {
        if (written.isOk()) {
            return master.call(end, subject.by(client), number, deadline);
        }
        Outcome<Done> revoked = master.call(revoke, subject.by(client), number, deadline);
        if (revoked instanceof Outcome.Failed<Done>(Code code, String detail)) {
            LOG.log(
                    Level.WARNING,
                    "copy not taken back key={0} code={1} detail={2}",
                    Keys.show(subject.key),
                    code.label(),
                    detail);
        }
        return written;
    }

    /** Out of this node's own memory, and no other's. */
    private Outcome<Done> write(
            ReplicaDescriptor source, List<ReplicaDescriptor> targets, Deadline deadline) {
        if (!(source.placement() instanceof Placement.Memory(BufferDescriptor from))) {
            return Outcome.failed(StoreCode.INVALID_PARAMS, "the source is not in memory");
        }
        Optional<MemorySegment> memory =
                from.transportEndpoint().equals(engine.localName())
                        ? mounts.memory(from.address(), from.size())
                        : Optional.empty();
        if (memory.isEmpty()) {
            return Outcome.failed(
                    StoreCode.REPLICA_NOT_IN_LOCAL_MEMORY,
                    "the source is at %s, this node is %s"
                            .formatted(from.transportEndpoint(), engine.localName()));
        }
        List<Piece> pieces = new ArrayList<>(targets.size());
        for (ReplicaDescriptor target : targets) {
            if (target.placement() instanceof Placement.Memory(BufferDescriptor to)) {
                pieces.add(new Piece(0, to, 0, memory.get()));
            }
        }
        for (Outcome<Done> moved : transfers.run(Opcode.WRITE, pieces, deadline.remaining())) {
            if (!moved.isOk()) {
                return moved;
            }
        }
        return Outcome.done();
    }

    /** Lets what runs end. */
    @Override
    public void close() {
        closing.countDown();
        workers.shutdown();
        boolean interrupted = false;
        try {
            poller.join(PERIOD.multipliedBy(4));
            if (!workers.awaitTermination(5, TimeUnit.SECONDS)) {
                workers.shutdownNow();
            }
        } catch (InterruptedException e) {
            workers.shutdownNow();
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
