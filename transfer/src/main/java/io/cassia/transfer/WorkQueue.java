package io.cassia.transfer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.transport.Run;
import io.cassia.transfer.transport.Transfer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Transfers to one segment that wait for a thread of the background, first come, first served.
 * Guarded.
 *
 * <p>As many runners as there are lanes take from it, each a handful at a time: what different
 * batches asked for goes out together, and no peer occupies more threads than it has lanes.
 */
final class WorkQueue {
    private static final System.Logger LOG = System.getLogger(WorkQueue.class.getName());

    /** As many as the largest batch has. */
    static final int MAX_QUEUED = 1 << 20;

    private static final int RUN_COUNT = 64;
    private static final long RUN_BYTES = 8 << 20;

    private final Segment segment;
    private final EngineParts parts;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final ArrayDeque<Transfer> queue = new ArrayDeque<>();

    @GuardedBy("lock")
    private final List<Carrier> carriers = new ArrayList<>();

    @GuardedBy("lock")
    private int reserved;

    @GuardedBy("lock")
    private int runners;

    @GuardedBy("lock")
    private boolean closed;

    /** A thread of the background and what it has taken. Immutable. */
    private record Carrier(Thread thread, List<Transfer> taken) {
        boolean hasUnwanted() {
            return taken.stream().anyMatch(t -> t.isUnwanted() && !t.isEnded());
        }
    }

    WorkQueue(Segment segment, EngineParts parts) {
        this.segment = segment;
        this.parts = parts;
    }

    /**
     * Makes room for transfers that will certainly come; false when the queue is full or closed.
     */
    boolean reserve(int count) {
        lock.lock();
        try {
            if (closed || queue.size() + reserved + count > MAX_QUEUED) {
                return false;
            }
            reserved += count;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Gives back room that will not be used. */
    void unreserve(int count) {
        lock.lock();
        try {
            reserved -= count;
        } finally {
            lock.unlock();
        }
    }

    /** Queues transfers for which there is room. */
    void add(List<Transfer> transfers) {
        int start = 0;
        lock.lock();
        try {
            reserved -= transfers.size();
            queue.addAll(transfers);
            int wanted = (queue.size() + RUN_COUNT - 1) / RUN_COUNT;
            int limit = parts.config().lanesPerPeer();
            while (runners < limit && start < wanted) {
                runners++;
                start++;
            }
        } finally {
            lock.unlock();
        }
        for (int i = 0; i < start; i++) {
            parts.runners().execute(this::work);
        }
    }

    private void work() {
        while (true) {
            Carrier carrier = new Carrier(Thread.currentThread(), new ArrayList<>());
            if (!take(carrier)) {
                return;
            }
            Run run = Run.cancellable(carrier.taken);
            try {
                segment.carry(run);
            } catch (RuntimeException | OutOfMemoryError e) {
                // Its callers wait for an end, and the route has let go of their memory.
                LOG.log(System.Logger.Level.ERROR, "transfer-failed-internally", e);
                boolean memory = e instanceof OutOfMemoryError;
                run.failRest(
                        memory ? TransferCode.ERR_MEMORY : TransferCode.ERR_CONTEXT,
                        "segment " + segment.name() + ": " + e,
                        false);
            } finally {
                putDown(carrier);
            }
        }
    }

    private void putDown(Carrier carrier) {
        lock.lock();
        try {
            carriers.remove(carrier);
        } finally {
            lock.unlock();
        }
        // Nobody interrupts for the sake of this run any more, and the next one has done nothing.
        boolean _ = Thread.interrupted();
    }

    /**
     * Lets go of transfers that were given up: those that wait are dropped, those under way are
     * interrupted.
     */
    void dropUnwanted() {
        lock.lock();
        try {
            queue.removeIf(Transfer::isEnded);
            for (Carrier carrier : carriers) {
                if (carrier.hasUnwanted()) {
                    carrier.thread.interrupt();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** What waits and what is under way. */
    int size() {
        lock.lock();
        try {
            return queue.size() + carriers.stream().mapToInt(c -> c.taken.size()).sum();
        } finally {
            lock.unlock();
        }
    }

    /** The next handful; false ends the runner. */
    private boolean take(Carrier carrier) {
        List<Transfer> taken = carrier.taken;
        List<Transfer> late = new ArrayList<>();
        lock.lock();
        try {
            long now = parts.clock().nanos();
            long bytes = 0;
            while (taken.size() < RUN_COUNT && bytes < RUN_BYTES) {
                Transfer next = queue.poll();
                if (next == null) {
                    break;
                }
                if (next.deadlineNanos() - now <= 0) {
                    late.add(next);
                } else if (next.tryStart()) {
                    taken.add(next);
                    bytes += next.lengthBytes();
                }
            }
            if (taken.isEmpty()) {
                runners--;
            } else {
                carriers.add(carrier);
            }
        } finally {
            lock.unlock();
        }
        for (Transfer transfer : late) {
            boolean _ =
                    transfer.cancel(
                            TransferCode.ERR_SOCKET,
                            "segment " + segment.name() + ": deadline was over in the queue",
                            true);
        }
        return !taken.isEmpty();
    }

    /** Fails what waits; nothing can be queued any more. */
    void close(Outcome.Failed<Done> why) {
        List<Transfer> waiting;
        lock.lock();
        try {
            closed = true;
            waiting = new ArrayList<>(queue);
            queue.clear();
        } finally {
            lock.unlock();
        }
        for (Transfer transfer : waiting) {
            boolean _ = transfer.cancel(why.code(), why.detail(), false);
        }
    }
}
