package io.cassia.master.core;

/**
 * Confined to the master's lock. Objects that have not been read since their put are on probation:
 * they may take a share of the memory, and beyond it the oldest of them go first. The others, and
 * those on probation within their share, go as {@link LruOrder} says.
 *
 * <p>The share is large: in traces of conversations most objects are read again late, and a small
 * share would throw them out before. There this order and the plain one are within a hundredth of
 * each other; it pays where much is put that nobody reads.
 */
final class ProbationOrder implements VictimOrder {
    private static final int NONE = ObjectTable.NONE;

    /** Of the capacity. */
    private static final double SHARE = 0.75;

    /** Protected objects put aside in one run. */
    private static final int MOST_PARKED = 4096;

    private final CoreState state;
    private final ObjectTable objects;
    private final RecencyLists recency;
    private final Protection protection;
    private final LruOrder others;

    private int oldest;
    private int parkedInRun;

    ProbationOrder(CoreState state, Protection protection, LruOrder others) {
        this.state = state;
        this.objects = state.objects;
        this.recency = state.recency;
        this.protection = protection;
        this.others = others;
    }

    @Override
    public void begin(boolean onDemand) {
        others.begin(onDemand);
        oldest = recency.head(RecencyLists.NEW);
        parkedInRun = 0;
    }

    @Override
    public int next() {
        boolean over = recency.newBytes() > SHARE * state.segments.capacityBytes();
        int victim = over ? nextNew() : NONE;
        if (victim != NONE) {
            return victim;
        }
        // The weakly protected ones come last: before them those on probation.
        victim = others.nextUnprotectedOnly();
        if (victim != NONE) {
            return victim;
        }
        victim = nextNew();
        return victim != NONE ? victim : others.next();
    }

    private int nextNew() {
        while (oldest != NONE && parkedInRun < MOST_PARKED) {
            int victim = oldest;
            oldest = objects.next(victim);
            if (protection.timedLeaseUntil(victim) > state.now
                    || protection.isHeldByGroup(victim, true)) {
                recency.park(victim, RecencyLists.PARKED_LEASED);
            } else if (protection.isSoftPinned(victim)) {
                recency.park(victim, RecencyLists.PARKED_SOFT);
            } else {
                return victim;
            }
            parkedInRun++;
        }
        return NONE;
    }

    @Override
    public void leaving(int slot) {
        if (slot == oldest) {
            oldest = objects.next(slot);
        }
        others.leaving(slot);
    }
}
