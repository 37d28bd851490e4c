package io.cassia.master.core;

import io.cassia.base.ByteString;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Confined to the master's lock. Events that wait for somebody to take them; the oldest is dropped
 * when there are too many. No part of the state: nothing is decided by it.
 */
final class ObjectEvents {
    private final ArrayDeque<ObjectEvent> waiting = new ArrayDeque<>();
    private int capacity;
    private long dropped;

    /** Begins to remember; 0, as at first, remembers nothing. */
    void keep(int events) {
        capacity = events;
    }

    boolean areKept() {
        return capacity > 0;
    }

    void add(boolean stored, ByteString tenant, byte[] key, ByteString group) {
        if (waiting.size() == capacity) {
            ObjectEvent _ = waiting.remove();
            dropped++;
        }
        waiting.add(new ObjectEvent(stored, tenant, ByteString.wrap(key), group));
    }

    /** The oldest events, which are forgotten. */
    List<ObjectEvent> take(int most) {
        List<ObjectEvent> taken = new ArrayList<>(Math.min(most, waiting.size()));
        while (taken.size() < most && !waiting.isEmpty()) {
            taken.add(waiting.remove());
        }
        return taken;
    }

    /** Events that nobody took in time, since the start. */
    long dropped() {
        return dropped;
    }
}
