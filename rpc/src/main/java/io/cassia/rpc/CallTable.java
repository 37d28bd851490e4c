package io.cassia.rpc;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Calls in flight by sequence number. Guarded by compare-and-set: whoever takes a call out owns its
 * end, so that a reply, a deadline and a loss cannot end it twice. {@link #add} is for one thread
 * at a time.
 */
final class CallTable {
    private final AtomicReferenceArray<@Nullable ClientCall<?>> slots;
    private final int mask;
    private final int limit;
    private final AtomicInteger count = new AtomicInteger();
    private int sequence;

    CallTable(int limit) {
        int capacity = Integer.highestOneBit(limit) * 4;
        this.slots = new AtomicReferenceArray<>(capacity);
        this.mask = capacity - 1;
        this.limit = limit;
    }

    boolean isFull() {
        return count.get() >= limit;
    }

    int size() {
        return count.get();
    }

    /**
     * The next number: one up from the last, passing over those whose place is held by a call that
     * takes very long. The table must not be full.
     */
    int nextSequence() {
        while (slots.get(sequence & mask) != null) {
            sequence++;
        }
        return sequence;
    }

    /** Adds a call that has the number that {@link #nextSequence} returned. */
    void add(ClientCall<?> call) {
        sequence = call.sequence() + 1;
        count.incrementAndGet();
        slots.set(call.sequence() & mask, call);
    }

    /** Takes a call out by the number of its reply; null when nobody waits for it any more. */
    @Nullable ClientCall<?> take(int sequence) {
        ClientCall<?> call = slots.get(sequence & mask);
        return call != null && call.sequence() == sequence && take(call) ? call : null;
    }

    /** Takes this call out; false when another thread ends it. */
    boolean take(ClientCall<?> call) {
        if (slots.compareAndSet(call.sequence() & mask, call, null)) {
            count.decrementAndGet();
            return true;
        }
        return false;
    }

    /** Looks at each call. */
    void forEach(Consumer<ClientCall<?>> action) {
        for (int i = 0; i <= mask; i++) {
            ClientCall<?> call = slots.get(i);
            if (call != null) {
                action.accept(call);
            }
        }
    }
}
