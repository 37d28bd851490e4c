package io.cassia.master.core;

/**
 * Confined to the master's lock. The least recently used first, in exact order: the front of IDLE
 * merged with the part of READ whose leases are over. What is protected for the time being is put
 * aside, and offered when nothing else is left: exist-leased objects first, then soft-pinned ones.
 */
final class LruOrder implements VictimOrder {
    private static final int NONE = ObjectTable.NONE;

    /** Parked objects looked at per run to see whether their protection is over. */
    private static final int UNPARK_STEPS = 16;

    /**
     * Protected objects put aside in one run. When all have been asked for lately, the coldest of
     * those that were met is as good a victim as any further down.
     */
    static final int MOST_PARKED = 4096;

    private enum Stage {
        UNPROTECTED,
        EXIST_LEASED,
        SOFT_PINNED,
        EXHAUSTED
    }

    private final CoreState state;
    private final ObjectTable objects;
    private final RecencyLists recency;
    private final Protection protection;

    private boolean onDemand;
    private Stage stage = Stage.EXHAUSTED;
    private int idle;
    private int read;
    private int parked;
    private int parkedInRun;

    LruOrder(CoreState state, Protection protection) {
        this.state = state;
        this.objects = state.objects;
        this.recency = state.recency;
        this.protection = protection;
    }

    @Override
    public void begin(boolean onDemand) {
        this.onDemand = onDemand;
        recency.expireReads(state.now);
        unpark(RecencyLists.PARKED_LEASED);
        unpark(RecencyLists.PARKED_SOFT);
        idle = recency.head(RecencyLists.IDLE);
        read = recency.head(RecencyLists.READ);
        stage = Stage.UNPROTECTED;
        parkedInRun = 0;
    }

    @Override
    public int next() {
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

    /** As {@link #next}, but nothing whose protection would have to be overridden. */
    int nextUnprotectedOnly() {
        return stage == Stage.UNPROTECTED ? nextUnprotected() : NONE;
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
            if (!parkIfProtected(victim)) {
                return victim;
            }
            parkedInRun++;
        }
        return NONE;
    }

    /** Puts an object aside that a lease, its group or a soft pin protects; whether one does. */
    boolean parkIfProtected(int victim) {
        if (protection.timedLeaseUntil(victim) > state.now
                || protection.isHeldByGroup(victim, true)) {
            recency.park(victim, RecencyLists.PARKED_LEASED);
        } else if (protection.isSoftPinned(victim)) {
            recency.park(victim, RecencyLists.PARKED_SOFT);
        } else {
            return false;
        }
        return true;
    }

    private int nextParked() {
        while (parked != NONE) {
            int victim = parked;
            parked = objects.next(victim);
            if (stage == Stage.EXIST_LEASED && protection.isSoftPinned(victim)) {
                // Who asks whether a pinned object exists does not take its pin away.
                recency.park(victim, RecencyLists.PARKED_SOFT);
                continue;
            }
            boolean free =
                    onDemand
                            ? objects.readLeaseUntil(victim) <= state.now
                            : protection.timedLeaseUntil(victim) <= state.now;
            if (free && !protection.isHeldByGroup(victim, !onDemand)) {
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
                            ? protection.timedLeaseUntil(slot) <= state.now
                                    && !protection.isHeldByGroup(slot, true)
                            : !protection.isSoftPinned(slot);
            if (over) {
                recency.unpark(slot);
            }
        }
    }

    @Override
    public void leaving(int slot) {
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
    }
}
