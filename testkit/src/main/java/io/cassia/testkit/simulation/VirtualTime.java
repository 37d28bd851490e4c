package io.cassia.testkit.simulation;

import java.util.PriorityQueue;

/**
 * Confined to one thread. Time that passes only from event to event, and the events to come. Events
 * of the same time happen in the order in which they were asked for.
 */
public final class VirtualTime {
    private record Event(long atNanos, long order, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return atNanos != other.atNanos
                    ? Long.compare(atNanos, other.atNanos)
                    : Long.compare(order, other.order);
        }
    }

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private long nowNanos;
    private long order;

    /** Nanoseconds since the world began. */
    public long nanos() {
        return nowNanos;
    }

    /** Lets something happen later; a delay below zero counts as none. */
    public void after(long delayNanos, Runnable action) {
        events.add(new Event(nowNanos + Math.max(0, delayNanos), ++order, action));
    }

    /** Goes on to the next event and lets it happen; false when there is none. */
    public boolean step() {
        Event next = events.poll();
        if (next == null) {
            return false;
        }
        nowNanos = next.atNanos;
        next.action.run();
        return true;
    }
}
