package io.cassia.transfer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.transport.Transfer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Requests that run in the background, with one status per task. Guarded: any thread may submit,
 * poll and wait. Task numbers continue over several submissions.
 *
 * <p>Each task ends: with its deadline, {@link TransferConfig.Timeouts#batch} after its submission,
 * at the latest.
 */
public final class Batch {
    private final int capacity;
    private final Dispatcher dispatcher;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition idle = lock.newCondition();

    @GuardedBy("lock")
    private final List<Transfer> tasks = new ArrayList<>();

    @GuardedBy("lock")
    private int running;

    @GuardedBy("lock")
    private boolean freed;

    Batch(int capacity, Dispatcher dispatcher) {
        this.capacity = capacity;
        this.dispatcher = dispatcher;
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
        return switch (dispatcher.prepare(requests, this::ended)) {
            case Outcome.Failed<Dispatcher.Prepared> failed -> failed.as();
            case Outcome.Ok<Dispatcher.Prepared>(Dispatcher.Prepared prepared) -> {
                Outcome<Done> admitted = admit(prepared.transfers());
                if (admitted.isOk()) {
                    prepared.start();
                } else {
                    prepared.drop();
                }
                yield admitted;
            }
        };
    }

    private Outcome<Done> admit(List<Transfer> added) {
        lock.lock();
        try {
            if (freed) {
                return Outcome.failed(
                        TransferCode.ERR_INVALID_ARGUMENT, "the batch has been freed");
            }
            if (tasks.size() + added.size() > capacity) {
                return Outcome.failed(
                        TransferCode.ERR_TOO_MANY_REQUESTS,
                        "%d tasks and %d more exceed the capacity of %d; allocate another batch"
                                .formatted(tasks.size(), added.size(), capacity));
            }
            tasks.addAll(added);
            running += added.size();
            return Outcome.done();
        } finally {
            lock.unlock();
        }
    }

    private void ended(Transfer transfer) {
        lock.lock();
        try {
            running--;
            if (running == 0) {
                idle.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Status of a task, by its number in order of submission.
     *
     * @throws IndexOutOfBoundsException when there is no such task
     */
    public TransferStatus status(int task) {
        lock.lock();
        try {
            return statusOf(tasks.get(task));
        } finally {
            lock.unlock();
        }
    }

    private static TransferStatus statusOf(Transfer task) {
        if (!task.isEnded()) {
            return new TransferStatus(TransferState.WAITING, 0, Optional.empty());
        }
        return switch (task.outcome()) {
            case Outcome.Ok<Done> ok ->
                    new TransferStatus(
                            TransferState.COMPLETED, task.lengthBytes(), Optional.empty());
            case Outcome.Failed<Done> failed ->
                    new TransferStatus(
                            task.isTimedOut() ? TransferState.TIMEOUT : TransferState.FAILED,
                            0,
                            Optional.of(failed));
        };
    }

    /** Status of the whole. */
    public BatchStatus status() {
        lock.lock();
        try {
            long bytes = 0;
            int completed = 0;
            int failed = 0;
            TransferState worst = TransferState.COMPLETED;
            for (Transfer task : tasks) {
                TransferStatus status = statusOf(task);
                bytes += status.transferredBytes();
                if (status.state() == TransferState.COMPLETED) {
                    completed++;
                } else if (status.state().isTerminal()) {
                    failed++;
                    if (worst != TransferState.FAILED) {
                        worst = status.state();
                    }
                }
            }
            boolean ended = completed + failed == tasks.size();
            return new BatchStatus(
                    ended ? worst : TransferState.WAITING, bytes, tasks.size(), completed, failed);
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
            long left = timeout.toNanos();
            while (running > 0) {
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

    /** Gives the batch back; ERR_BATCH_BUSY while a task runs, and the batch stays valid. */
    public Outcome<Done> free() {
        lock.lock();
        try {
            if (running > 0) {
                return Outcome.failed(
                        TransferCode.ERR_BATCH_BUSY,
                        "%d of %d tasks are running; wait for them"
                                .formatted(running, tasks.size()));
            }
            freed = true;
            return Outcome.done();
        } finally {
            lock.unlock();
        }
    }
}
