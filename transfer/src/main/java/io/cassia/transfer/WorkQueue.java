package io.cassia.transfer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
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
    private static final int MAX_QUEUED = 65_536;
    private static final int RUN_COUNT = 64;
    private static final long RUN_BYTES = 8 << 20;

    private final Segment segment;
    private final EngineParts parts;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final ArrayDeque<Transfer> queue = new ArrayDeque<>();

    @GuardedBy("lock")
    private int reserved;

    @GuardedBy("lock")
    private int runners;

    @GuardedBy("lock")
    private boolean closed;

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
            List<Transfer> taken = take();
            if (taken.isEmpty()) {
                return;
            }
            segment.carry(new Run(taken));
        }
    }

    /** The next handful; empty ends the runner. */
    private List<Transfer> take() {
        List<Transfer> taken = new ArrayList<>();
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
        return taken;
    }

    /** Fails what waits; nothing can be queued any more. */
    void close() {
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
            boolean _ = transfer.cancel(TransferCode.ERR_CONTEXT, "the engine is closed", false);
        }
    }
}
