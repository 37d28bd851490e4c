package io.cassia.transfer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Deadline;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.net.Watchdog;
import io.cassia.transfer.transport.Transfer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Requests that run in the background, with one status per task. Guarded: any thread may submit,
 * poll, wait and cancel. Task numbers continue over several submissions.
 *
 * <pre>
 *   OPEN ── free, nothing runs ──────────────────────────────► FREED
 *    └──── freeDeferred, tasks run ──► DEFERRED ── last ended ──► FREED
 * </pre>
 *
 * <p>Each task ends: with its deadline, which counts from its submission, at the latest. A task
 * that has ended, however it did, touches no memory any more.
 */
public final class Batch implements AutoCloseable {
    /** How long an interrupted task may take to let go of its memory. */
    private static final Duration LET_GO = Duration.ofSeconds(30);

    /** What ends by itself at the deadline tells more than what is ended then. */
    private static final Duration GRACE = Duration.ofMillis(50);

    private static final Duration STEP = Duration.ofMillis(1);

    private enum State {
        OPEN,
        DEFERRED,
        FREED
    }

    private final int capacity;
    private final Duration timeout;
    private final Dispatcher dispatcher;
    private final EngineParts parts;
    private final Notifier notifier;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition idle = lock.newCondition();

    @GuardedBy("lock")
    private final List<Transfer> tasks = new ArrayList<>();

    @GuardedBy("lock")
    private final Set<Segment> segments = new HashSet<>();

    /** Expires with the oldest task that runs, or earlier. */
    @GuardedBy("lock")
    private Watchdog.@Nullable Watch watch;

    @GuardedBy("lock")
    private long watchedUntilNanos;

    @GuardedBy("lock")
    private final BatchTally tally = new BatchTally();

    @GuardedBy("lock")
    private List<Delivery> deliveries = new ArrayList<>();

    @GuardedBy("lock")
    private @Nullable CompletableFuture<BatchStatus> completion;

    @GuardedBy("lock")
    private State state = State.OPEN;

    /**
     * An empty batch.
     *
     * @param timeout of each task from its submission
     */
    Batch(
            int capacity,
            Duration timeout,
            Dispatcher dispatcher,
            EngineParts parts,
            Notifier notifier) {
        this.capacity = capacity;
        this.timeout = timeout;
        this.dispatcher = dispatcher;
        this.parts = parts;
        this.notifier = notifier;
    }

    /** Number of tasks it may ever hold. */
    public int capacity() {
        return capacity;
    }

    /**
     * Hands requests over: all or none. ERR_TOO_MANY_REQUESTS when they exceed the capacity or too
     * many wait for a peer already, ERR_INVALID_ARGUMENT for an unknown target, for memory that
     * other threads may not touch, or when the batch was freed. I/O failures show up in the tasks'
     * status.
     */
    public Outcome<Done> submit(List<TransferRequest> requests) {
        return submit(requests, List.of(), dispatcher.deadline(timeout), _ -> _ -> {});
    }

    /** The same until another moment, with a listener for each task. */
    Outcome<Done> submit(
            List<TransferRequest> requests,
            long deadlineNanos,
            IntFunction<Transfer.Listener> listeners) {
        return submit(requests, List.of(), deadlineNanos, listeners);
    }

    /**
     * The same, and a message to the target of the first request: sent once, by a thread of the
     * engine, when every task of the batch has completed. When one has not it is not sent, and the
     * delivery tells why. ERR_INVALID_ARGUMENT for no requests.
     */
    public Outcome<Delivery> submit(List<TransferRequest> requests, Notification notification) {
        if (requests.isEmpty()) {
            return Outcome.failed(
                    TransferCode.ERR_INVALID_ARGUMENT,
                    "a notification follows requests, and there are none");
        }
        Delivery delivery = new Delivery(requests.getFirst().target(), notification);
        return submit(requests, List.of(delivery), dispatcher.deadline(timeout), _ -> _ -> {})
                .map(_ -> delivery);
    }

    private Outcome<Done> submit(
            List<TransferRequest> requests,
            List<Delivery> following,
            long deadlineNanos,
            IntFunction<Transfer.Listener> listeners) {
        return switch (dispatcher.prepare(requests, deadlineNanos, i -> tell(listeners.apply(i)))) {
            case Outcome.Failed<Dispatcher.Prepared> failed -> failed.as();
            case Outcome.Ok<Dispatcher.Prepared>(Dispatcher.Prepared prepared) -> {
                Outcome<Done> admitted = admit(prepared, following);
                if (admitted.isOk()) {
                    prepared.start();
                } else {
                    prepared.drop();
                }
                yield admitted;
            }
        };
    }

    private Outcome<Done> admit(Dispatcher.Prepared prepared, List<Delivery> following) {
        List<Transfer> added = prepared.transfers();
        lock.lock();
        try {
            if (state != State.OPEN) {
                return freed();
            }
            if (tasks.size() + added.size() > capacity) {
                return Outcome.failed(
                        TransferCode.ERR_TOO_MANY_REQUESTS,
                        "%d tasks and %d more exceed the capacity of %d; allocate another batch"
                                .formatted(tasks.size(), added.size(), capacity));
            }
            tasks.addAll(added);
            segments.addAll(prepared.queued().keySet());
            tally.submitted(added.size());
            deliveries.addAll(following);
            if (watch == null && !prepared.queued().isEmpty()) {
                watch(added.getFirst());
            }
            return Outcome.done();
        } finally {
            lock.unlock();
        }
    }

    private static <T> Outcome<T> freed() {
        return Outcome.failed(TransferCode.ERR_INVALID_ARGUMENT, "the batch has been freed");
    }

    @GuardedBy("lock")
    private void watch(Transfer oldest) {
        long until = oldest.deadlineNanos() + GRACE.toNanos();
        // Off the watchdog's thread: a million tasks take their time.
        watch =
                parts.tcp()
                        .watchdog()
                        .watch(() -> parts.runners().execute(() -> giveUpLate(until)));
        watchedUntilNanos = until;
        watch.arm(until);
    }

    private void giveUpLate(long watchedUntil) {
        long now = parts.clock().nanos();
        giveUp(Transfer.End.TIMED_OUT, task -> task.deadlineNanos() - now <= 0);
        lock.lock();
        try {
            if (watch == null || watchedUntilNanos != watchedUntil) {
                // All have ended, and what was submitted since has a watch of its own.
                return;
            }
            unwatch();
            if (now - watchedUntil < 0) {
                // The watchdog has ended with the engine, whose end is that of the tasks.
                return;
            }
            // Most deadlines come in the order of the tasks; a later look finds the others.
            tasks.stream()
                    .filter(task -> !task.isEnded() && task.deadlineNanos() - now > 0)
                    .findFirst()
                    .ifPresent(this::watch);
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void unwatch() {
        if (watch != null) {
            watch.close();
            watch = null;
        }
    }

    private void giveUp(Transfer.End why, Predicate<Transfer> which) {
        List<Transfer> given;
        List<Segment> carriers;
        lock.lock();
        try {
            given = tasks.stream().filter(task -> !task.isEnded() && which.test(task)).toList();
            carriers = List.copyOf(segments);
        } finally {
            lock.unlock();
        }
        given.forEach(task -> task.giveUp(why));
        carriers.forEach(segment -> segment.queue().dropUnwanted());
    }

    /** The listener first: when the batch says that all have ended, it has been told of all. */
    private Transfer.Listener tell(Transfer.Listener listener) {
        return task -> {
            listener.ended(task);
            ended(task);
        };
    }

    private void ended(Transfer transfer) {
        CompletableFuture<BatchStatus> waiting;
        List<Delivery> due;
        BatchStatus status;
        Optional<Outcome.Failed<Done>> failure;
        lock.lock();
        try {
            tally.ended(transfer);
            if (tally.running() > 0) {
                return;
            }
            waiting = completion;
            completion = null;
            due = deliveries;
            deliveries = new ArrayList<>();
            status = tally.status();
            failure = tally.firstFailure();
            unwatch();
            if (state == State.DEFERRED) {
                parts.metrics().deferredBatches().decrementAndGet();
                release();
            }
            idle.signalAll();
        } finally {
            lock.unlock();
        }
        // Neither the peer of a message nor the caller's code may hold up a lane.
        for (Delivery delivery : due) {
            parts.runners().execute(() -> deliver(delivery, failure));
        }
        if (waiting != null) {
            Thread.ofVirtual().name("cassia-batch").start(() -> complete(waiting, status));
        }
    }

    private static void complete(CompletableFuture<BatchStatus> waiting, BatchStatus status) {
        boolean _ = waiting.complete(status);
    }

    private void deliver(Delivery delivery, Optional<Outcome.Failed<Done>> failure) {
        Outcome<Done> outcome =
                failure.isPresent()
                        ? failure.get().in("not sent, the batch did not complete")
                        : notifier.send(delivery.target().name(), delivery.notification());
        if (outcome instanceof Outcome.Failed<Done> failed) {
            parts.metrics().notificationFailed(failed.code());
        }
        delivery.decide(outcome);
    }

    @GuardedBy("lock")
    private void release() {
        state = State.FREED;
        tasks.clear();
        segments.clear();
    }

    /**
     * Status of a task, by its number in order of submission. It never goes back, and other tasks
     * do not change it. ERR_INVALID_ARGUMENT when there is no such task, or the batch was freed.
     */
    public Outcome<TransferStatus> status(int task) {
        lock.lock();
        try {
            if (state != State.OPEN) {
                return freed();
            }
            if (task < 0 || task >= tasks.size()) {
                return Outcome.failed(
                        TransferCode.ERR_INVALID_ARGUMENT,
                        "task %d of a batch of %d".formatted(task, tasks.size()));
            }
            return Outcome.ok(TransferStatus.of(tasks.get(task)));
        } finally {
            lock.unlock();
        }
    }

    /** Status of the whole at this moment: tasks that were added later count. */
    public BatchStatus status() {
        lock.lock();
        try {
            return tally.status();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until every submitted task has ended; false when the time is over before, or the thread
     * was interrupted, which it then still is.
     */
    public boolean await(Duration timeout) {
        lock.lock();
        try {
            long left = Deadline.nanos(timeout);
            while (tally.running() > 0) {
                if (left <= 0) {
                    return false;
                }
                left = idle.awaitNanos(left);
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits as {@link #await} does and tells how the batch has ended. ERR_CLOCK when the time is
     * over before: the tasks go on, and their memory must be left alone.
     */
    public Outcome<BatchStatus> join(Duration timeout) {
        if (await(timeout)) {
            return Outcome.ok(status());
        }
        lock.lock();
        try {
            return Outcome.failed(
                    TransferCode.ERR_CLOCK,
                    "waited %d ms, and %s"
                            .formatted(
                                    TimeUnit.NANOSECONDS.toMillis(Deadline.nanos(timeout)),
                                    unfinished()));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Completes, never exceptionally, when every task submitted until then has ended; on a thread
     * of its own, so that what depends on it may block. Tasks submitted later are another stage's.
     */
    public CompletionStage<BatchStatus> completion() {
        lock.lock();
        try {
            if (tally.running() == 0) {
                return CompletableFuture.completedStage(tally.status());
            }
            if (completion == null) {
                completion = new CompletableFuture<>();
            }
            return completion.minimalCompletionStage();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends all tasks that have not ended as CANCELED. On return none runs, and nobody touches their
     * memory any more; a WRITE may have changed the peer's. ERR_BATCH_BUSY when one does not let go
     * of its memory; leave that alone then.
     */
    public Outcome<Done> cancel() {
        giveUp(Transfer.End.CANCELED, _ -> true);
        return awaitLetGo(Optional.empty());
    }

    /**
     * The same for one task. It may have ended otherwise before. ERR_INVALID_ARGUMENT as for {@link
     * #status(int)}.
     */
    public Outcome<Done> cancel(int task) {
        Transfer transfer;
        lock.lock();
        try {
            if (status(task) instanceof Outcome.Failed<TransferStatus> failed) {
                return failed.as();
            }
            transfer = tasks.get(task);
        } finally {
            lock.unlock();
        }
        giveUp(Transfer.End.CANCELED, other -> other == transfer);
        return awaitLetGo(Optional.of(transfer));
    }

    /** For one task or for all; who waits for one is woken by time. */
    private Outcome<Done> awaitLetGo(Optional<Transfer> task) {
        long deadline = parts.clock().nanos() + LET_GO.toNanos();
        boolean interrupted = false;
        lock.lock();
        try {
            while (task.isPresent() ? !task.get().isEnded() : tally.running() > 0) {
                if (parts.clock().nanos() - deadline > 0) {
                    return busy();
                }
                try {
                    long _ = idle.awaitNanos(STEP.toNanos());
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            return Outcome.done();
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @GuardedBy("lock")
    private <T> Outcome<T> busy() {
        return Outcome.failed(TransferCode.ERR_BATCH_BUSY, unfinished());
    }

    /** How much is left, and towards whom. */
    @GuardedBy("lock")
    private String unfinished() {
        return "%d of %d tasks run, towards %s"
                .formatted(
                        tally.running(),
                        tally.tasks(),
                        segments.stream()
                                .filter(segment -> segment.queue().size() > 0)
                                .map(Segment::name)
                                .limit(4)
                                .collect(Collectors.joining(", ")));
    }

    /**
     * Gives the batch back; ERR_BATCH_BUSY while a task runs, and the batch stays valid. Once
     * freed, it succeeds for ever.
     */
    public Outcome<Done> free() {
        lock.lock();
        try {
            if (state == State.OPEN && tally.running() > 0) {
                return busy();
            }
            if (state == State.DEFERRED) {
                return deferred();
            }
            release();
            return Outcome.done();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Gives the batch back whether or not tasks run. Those that do are given up, and the engine
     * frees the batch when the last one has ended; ERR_BATCH_CLEANUP_DEFERRED until then: the
     * memory of its tasks must be kept until {@link #completion}.
     */
    public Outcome<Done> freeDeferred() {
        lock.lock();
        try {
            if (tally.running() == 0) {
                return free();
            }
            if (state == State.OPEN) {
                state = State.DEFERRED;
                parts.metrics().deferredBatches().incrementAndGet();
            }
        } finally {
            lock.unlock();
        }
        Outcome<Done> deferred = deferred();
        giveUp(Transfer.End.CANCELED, _ -> true);
        return deferred;
    }

    private Outcome<Done> deferred() {
        lock.lock();
        try {
            return Outcome.failed(
                    TransferCode.ERR_BATCH_CLEANUP_DEFERRED,
                    unfinished() + "; keep their memory until the batch's completion");
        } finally {
            lock.unlock();
        }
    }

    /** Cancels what runs, waits for it, and frees the batch. */
    @Override
    public void close() {
        if (cancel() instanceof Outcome.Failed<Done>(var code, String detail)) {
            System.getLogger(Batch.class.getName())
                    .log(
                            System.Logger.Level.WARNING,
                            "batch-not-closed code={0} detail=\"{1}\"",
                            code.label(),
                            detail);
        }
        Outcome<Done> _ = freeDeferred();
    }
}
