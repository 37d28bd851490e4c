package io.cassia.master.core;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.List;

/**
 * Confined to the master's lock. Evicts the victims that the policy names (see {@link
 * VictimOrder}), each with its group as far as that may go.
 *
 * <p>An exist lease and a soft pin protect as long as others can be had; a demand for space
 * overrides them in this order, so that asking for the existence of all keys in a loop cannot stop
 * all puts.
 */
final class Evictor {
    private static final int NONE = ObjectTable.NONE;

    private final CoreState state;
    private final ObjectTable objects;
    private final Space space;
    private final Protection protection;
    private final VictimOrder order;
    private boolean relieving;

    Evictor(CoreState state, Space space) {
        this.state = state;
        this.objects = state.objects;
        this.space = space;
        this.protection = new Protection(state, space);
        LruOrder lru = new LruOrder(state, protection);
        this.order =
                switch (state.config.policy()) {
                    case LRU -> lru;
                    case TWO_QUEUES -> new TwoQueues(state, lru);
                };
    }

    /** Starts a run; until its end only {@link #evict} may change objects. */
    void begin(boolean onDemand) {
        order.begin(onDemand);
        state.counters.add(CoreCount.EVICTIONS_ATTEMPTED, 1);
    }

    /** The next victim of the run, which the caller may evict or leave; 0 when there is none. */
    int next() {
        int victim = order.next();
        // The object that room is being made for keeps its place in the order until there is room.
        while (victim != NONE && objects.has(victim, ObjectTable.IN_FLIGHT)) {
            victim = order.next();
        }
        return victim;
    }

    boolean isUnprotected(int slot) {
        return protection.isUnprotected(slot);
    }

    boolean isOverridable(int slot) {
        return protection.isOverridable(slot);
    }

    /** Evicts a victim of this run, and its group with it as far as that may go. */
    void evict(int slot, Fate fate) {
        GroupTable.Group group = protection.groupOf(slot);
        if (group != null) {
            for (int member : List.copyOf(group.members)) {
                if (member != slot && isUnprotected(member)) {
                    evictOne(member, fate);
                }
            }
        }
        evictOne(slot, fate);
    }

    private void evictOne(int slot, Fate fate) {
        state.counters.add(CoreCount.EVICTED_OBJECTS, 1);
        state.counters.add(CoreCount.EVICTED_BYTES, objects.memoryBytes(slot));
        order.leaving(slot);
        space.erase(slot, fate);
    }

    /**
     * Brings the used share down to the watermark less the eviction ratio once it was above the
     * watermark, {@code budget} objects at most; true when there is more to do.
     */
    @CanIgnoreReturnValue
    boolean relieve(int budget) {
        CoreConfig config = state.config;
        double capacity = state.segments.capacityBytes();
        double used = state.segments.usedBytes();
        relieving |= used > config.evictionHighWatermark() * capacity;
        if (!relieving) {
            return false;
        }
        double goal = (config.evictionHighWatermark() - config.evictionRatio()) * capacity;
        begin(false);
        int evicted = 0;
        while (state.segments.usedBytes() > goal && evicted < budget) {
            int victim = next();
            if (victim == NONE) {
                break;
            }
            evict(victim, Fate.EVICTED);
            evicted++;
        }
        if (evicted > 0) {
            state.counters.add(CoreCount.EVICTIONS_SUCCESSFUL, 1);
        }
        relieving = state.segments.usedBytes() > goal && evicted == budget;
        return relieving;
    }
}
