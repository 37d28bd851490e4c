package io.cassia.master.core;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the master's lock. Chooses victims in exact order of last use and evicts them.
 *
 * <p>Never a victim: in flight, hard-pinned, under a read lease or a counted lease. An exist lease
 * and a soft pin protect as long as others can be had; a demand for space overrides them in this
 * order, so that asking for the existence of all keys in a loop cannot stop all puts.
 */
final class Evictor {
    private static final int NONE = ObjectTable.NONE;

    /** Parked objects looked at per run to see whether their protection is over. */
    private static final int UNPARK_STEPS = 16;

    /**
     * Protected objects put aside in one run. When all have been asked for lately, the coldest of
     * those that were met is as good a victim as any further down.
     */
    private static final int MOST_PARKED = 4096;

    private enum Stage {
        UNPROTECTED,
        EXIST_LEASED,
        SOFT_PINNED,
        EXHAUSTED
    }

    private final CoreState state;
    private final ObjectTable objects;
    private final RecencyLists recency;
    private final Space space;

    private boolean onDemand;
    private Stage stage = Stage.EXHAUSTED;
    private int idle;
    private int read;
    private int parked;
    private int parkedInRun;
    private boolean relieving;

    Evictor(CoreState state, Space space) {
        this.state = state;
        this.objects = state.objects;
        this.recency = state.recency;
        this.space = space;
    }

    /** Starts a run; until its end only {@link #evict} may change objects. */
    void begin(boolean onDemand) {
        this.onDemand = onDemand;
        recency.expireReads(state.now);
        unpark(RecencyLists.PARKED_LEASED);
        unpark(RecencyLists.PARKED_SOFT);
        idle = recency.head(RecencyLists.IDLE);
        read = recency.head(RecencyLists.READ);
        stage = Stage.UNPROTECTED;
        parkedInRun = 0;
        state.counters.add(CoreCount.EVICTIONS_ATTEMPTED, 1);
    }

    /** The next victim of the run, which the caller may evict or leave; 0 when there is none. */
    int next() {
        while (true) {
            switch (stage) {
                case UNPROTECTED -> {
                    int victim = nextUnprotected();
                    if (victim != NONE) {
                        return victim;
                    }
                    stage = afterUnprotected();
                    parked = recency.head(parkedList());
                }
                case EXIST_LEASED -> {
                    int victim = nextParked();
                    if (victim != NONE) {
                        return victim;
                    }
                    stage = Stage.SOFT_PINNED;
                    parked = recency.head(parkedList());
                }
                case SOFT_PINNED -> {
                    int victim = state.config.evictSoftPinned() ? nextParked() : NONE;
                    if (victim != NONE) {
                        return victim;
                    }
                    stage = Stage.EXHAUSTED;
                }
                case EXHAUSTED -> {
                    return NONE;
                }
            }
        }
    }

    private Stage afterUnprotected() {
        if (onDemand) {
            return Stage.EXIST_LEASED;
        }
        // Where the run stopped early there may still be objects without a pin.
        return parkedInRun < MOST_PARKED ? Stage.SOFT_PINNED : Stage.EXHAUSTED;
    }

    private int parkedList() {
        return stage == Stage.EXIST_LEASED ? RecencyLists.PARKED_LEASED : RecencyLists.PARKED_SOFT;
    }

    private int nextUnprotected() {
        while (parkedInRun < MOST_PARKED) {
            boolean readOver = read != NONE && objects.readLeaseUntil(read) <= state.now;
            int victim;
            if (idle != NONE && !(readOver && objects.stamp(read) < objects.stamp(idle))) {
                victim = idle;
                idle = objects.next(idle);
            } else if (readOver) {
                victim = read;
                read = objects.next(read);
            } else {
                return NONE;
            }
            if (timedLeaseUntil(victim) > state.now || isHeldByGroup(victim, true)) {
                recency.park(victim, RecencyLists.PARKED_LEASED);
            } else if (isSoftPinned(victim)) {
                recency.park(victim, RecencyLists.PARKED_SOFT);
            } else {
                return victim;
            }
            parkedInRun++;
        }
        return NONE;
    }

    private int nextParked() {
        while (parked != NONE) {
            int victim = parked;
            parked = objects.next(victim);
            if (stage == Stage.EXIST_LEASED && isSoftPinned(victim)) {
                // Who asks whether a pinned object exists does not take its pin away.
                recency.park(victim, RecencyLists.PARKED_SOFT);
                continue;
            }
            boolean free =
                    onDemand
                            ? objects.readLeaseUntil(victim) <= state.now
                            : timedLeaseUntil(victim) <= state.now;
            if (free && !isHeldByGroup(victim, !onDemand)) {
                return victim;
            }
        }
        return NONE;
    }

    private void unpark(int list) {
        for (int i = 0; i < UNPARK_STEPS; i++) {
            int slot = recency.nextToCheck(list);
            if (slot == NONE) {
                return;
            }
            boolean over =
                    list == RecencyLists.PARKED_LEASED
                            ? timedLeaseUntil(slot) <= state.now && !isHeldByGroup(slot, true)
                            : !isSoftPinned(slot);
            if (over) {
                recency.unpark(slot);
            }
        }
    }

    /** When the read and the exist lease are both over. */
    private long timedLeaseUntil(int slot) {
        return Math.max(objects.existLeaseUntil(slot), objects.readLeaseUntil(slot));
    }

    boolean isSoftPinned(int slot) {
        ObjectExtra extra = objects.extra(slot);
        return extra != null && extra.softPinUntil > state.now;
    }

    /** Whether a lease on another member keeps the whole group. */
    private boolean isHeldByGroup(int slot, boolean existCounts) {
        GroupTable.Group group = groupOf(slot);
        if (group == null) {
            return false;
        }
        for (int member : group.members) {
            long until = existCounts ? timedLeaseUntil(member) : objects.readLeaseUntil(member);
            if (objects.leaseCount(member) > 0 || until > state.now) {
                return true;
            }
        }
        return false;
    }

    private GroupTable.@Nullable Group groupOf(int slot) {
        ObjectExtra extra = objects.extra(slot);
        return extra == null ? null : extra.group;
    }

    /** Whether an eviction may take the object without overriding any protection. */
    boolean isUnprotected(int slot) {
        return slot != NONE
                && objects.has(slot, ObjectTable.COMPLETE)
                && !objects.has(
                        slot,
                        ObjectTable.IN_FLIGHT | ObjectTable.HARD_PIN | ObjectTable.REPLICATING)
                && !space.isLeased(slot)
                && !isHeldByGroup(slot, true)
                && !isSoftPinned(slot);
    }

    /** Whether an eviction may take the object when it overrides exist leases and soft pins. */
    boolean isOverridable(int slot) {
        return objects.has(slot, ObjectTable.COMPLETE)
                && !objects.has(
                        slot,
                        ObjectTable.IN_FLIGHT | ObjectTable.HARD_PIN | ObjectTable.REPLICATING)
                && objects.leaseCount(slot) == 0
                && objects.readLeaseUntil(slot) <= state.now
                && !isHeldByGroup(slot, false)
                && (state.config.evictSoftPinned() || !isSoftPinned(slot));
    }

    /** Evicts a victim of this run, and its group with it as far as that may go. */
    void evict(int slot, Fate fate) {
        GroupTable.Group group = groupOf(slot);
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
        // A neighbour of a victim may be the next in line.
        if (slot == idle) {
            idle = objects.next(slot);
        }
        if (slot == read) {
            read = objects.next(slot);
        }
        if (slot == parked) {
            parked = objects.next(slot);
        }
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
