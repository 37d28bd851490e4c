package io.cassia.datadist.exchange;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.datadist.link.Announcer;
import io.micrometer.core.instrument.Counter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Ends of the peers' transfers, for listeners and for who polls. Guarded. The queue keeps the last
 * ones; older ones are dropped and counted.
 */
public final class TransferEvents {
    /** Events kept for polling. */
    public static final int CAPACITY = 4096;

    private final Counter dropped;
    private final Announcer announcer;
    private final List<TransferListener> listeners = new CopyOnWriteArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final ArrayDeque<TransferEvent> queue = new ArrayDeque<>();

    public TransferEvents(Counter dropped, Announcer announcer) {
        this.dropped = dropped;
        this.announcer = announcer;
    }

    public void addListener(TransferListener added) {
        listeners.add(added);
    }

    void publish(TransferEvent event) {
        lock.lock();
        try {
            if (queue.size() == CAPACITY) {
                queue.removeFirst();
                dropped.increment();
            }
            queue.addLast(event);
        } finally {
            lock.unlock();
        }
        listeners.forEach(each -> announcer.call(() -> each.onTransfer(event)));
    }

    /** Takes the oldest events, so many at most. */
    public List<TransferEvent> poll(int max) {
        lock.lock();
        try {
            List<TransferEvent> taken = new ArrayList<>(Math.min(max, queue.size()));
            while (taken.size() < max && !queue.isEmpty()) {
                taken.add(queue.removeFirst());
            }
            return taken;
        } finally {
            lock.unlock();
        }
    }
}
