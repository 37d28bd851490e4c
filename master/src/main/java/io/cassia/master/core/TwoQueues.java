package io.cassia.master.core;

/**
 * Confined to the master's lock. 2Q (Johnson and Shasha, "2Q: A Low Overhead High Performance
 * Buffer Management Replacement Algorithm", VLDB 1994). Objects that nobody has read since their
 * put wait in a queue; once that takes more than its share of the memory, its oldest go first, and
 * the master remembers their keys for a while. What is put again in that time was missed: it goes
 * straight to the others, of which the least recently used goes, as {@link LruOrder} says.
 *
 * <p>Two things differ from the paper. A read takes an object out of the queue at once, since a
 * read of a whole object is no mere echo of its put. And the share is half of the memory, not a
 * quarter: in traces of conversations many objects are read again late, and with a quarter a pool
 * that holds most of them would do worse than plain LRU.
 */
final class TwoQueues implements VictimOrder {
    private static final int NONE = ObjectTable.NONE;

    /** Of the capacity. */
    private static final double SHARE = 0.5;

    /** Keys remembered however few objects there are. */
    private static final int LEAST_REMEMBERED = 1024;

    private final CoreState state;
    private final ObjectTable objects;
    private final RecencyLists recency;
    private final LruOrder others;

    private int oldest;
    private int parkedInRun;

    TwoQueues(CoreState state, LruOrder others) {
        this.state = state;
        this.objects = state.objects;
        this.recency = state.recency;
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
        // The weakly protected ones come last: before them those that wait.
        victim = others.nextUnprotectedOnly();
        if (victim != NONE) {
            return victim;
        }
        victim = nextNew();
        return victim != NONE ? victim : others.next();
    }

    private int nextNew() {
        while (oldest != NONE && parkedInRun < LruOrder.MOST_PARKED) {
            int victim = oldest;
            oldest = objects.next(victim);
            if (!others.parkIfProtected(victim)) {
                return victim;
            }
            parkedInRun++;
        }
        return NONE;
    }

    @Override
    public void leaving(int slot) {
        if (objects.list(slot) == RecencyLists.NEW) {
            int most = Math.max(LEAST_REMEMBERED, objects.count());
            state.evictedKeys.add(objects.hash(slot), most);
        }
        if (slot == oldest) {
            oldest = objects.next(slot);
        }
        others.leaving(slot);
    }
}
