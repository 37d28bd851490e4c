package io.cassia.master.core;

/**
 * Confined to the master's lock. The objects in order of their last use, so that the next victim of
 * an eviction is found in O(1). Every object is in at most one list:
 *
 * <ul>
 *   <li>IDLE: last used by the end of a put, or by a counted lease that ended;
 *   <li>READ: last used by a read that took a lease. All these leases are equally long, so the list
 *       is also in order of their ends: its front part has expired, from {@code leased} on it has
 *       not. Merging IDLE and the expired part of READ by stamp is exact LRU;
 *   <li>PARKED_LEASED, PARKED_SOFT: found at the cold end of the two while a lease by time or a
 *       soft pin protected them; put aside so that they are not found again and again;
 *   <li>IN_FLIGHT: puts and upserts in order of their start;
 *   <li>NEW: not read since their put, in order of its end; only under {@link
 *       EvictionPolicy#TWO_QUEUES}.
 * </ul>
 *
 * Objects under counted leases and hard-pinned ones are in no list.
 */
final class RecencyLists {
    static final int NO_LIST = 0;
    static final int IDLE = 1;
    static final int READ = 2;
    static final int PARKED_LEASED = 3;
    static final int PARKED_SOFT = 4;
    static final int IN_FLIGHT = 5;
    static final int NEW = 6;

    private static final int NONE = ObjectTable.NONE;

    /** Objects passed at most to find a place in the order of use; beyond it is approximate. */
    private static final int MOST_STEPS = 64;

    private final ObjectTable objects;
    private final TenantOrder tenantOrder;
    private final int[] heads = new int[7];
    private final int[] tails = new int[7];
    private final int[] checks = new int[7];

    /** First of READ whose lease has not been seen to be over. */
    private int leased;

    private long readLeasedBytes;
    private long newBytes;
    private long uses;

    RecencyLists(ObjectTable objects, TenantOrder tenantOrder) {
        this.objects = objects;
        this.tenantOrder = tenantOrder;
    }

    int head(int list) {
        return heads[list];
    }

    /** Marks a use: the object is now the last to be evicted of its list. */
    void use(int slot, int list) {
        objects.setStamp(slot, ++uses);
        tenantOrder.use(slot);
        move(slot, list);
    }

    /** To the end of a list, out of the one it is in. */
    void move(int slot, int list) {
        unlink(slot);
        if (list == NO_LIST) {
            return;
        }
        insertAfter(slot, list, tails[list]);
        if (list == NEW) {
            newBytes += objects.memoryBytes(slot);
        }
        if (list == READ) {
            objects.set(slot, ObjectTable.SUMMED);
            readLeasedBytes += objects.memoryBytes(slot);
            if (leased == NONE) {
                leased = slot;
            }
        }
    }

    /** Puts an object aside, in the order of its last use among those that are there. */
    void park(int slot, int list) {
        unlink(slot);
        int before = tails[list];
        for (int i = 0; i < MOST_STEPS && before != NONE; i++) {
            if (objects.stamp(before) <= objects.stamp(slot)) {
                break;
            }
            before = objects.previous(before);
        }
        insertAfter(slot, list, before);
    }

    /** Back to the cold end of IDLE, in the order of the last use. */
    void unpark(int slot) {
        unlink(slot);
        int before = NONE;
        int next = heads[IDLE];
        for (int i = 0; i < MOST_STEPS && next != NONE; i++) {
            if (objects.stamp(next) >= objects.stamp(slot)) {
                break;
            }
            before = next;
            next = objects.next(next);
        }
        insertAfter(slot, IDLE, before);
    }

    private void insertAfter(int slot, int list, int before) {
        int next = before == NONE ? heads[list] : objects.next(before);
        objects.setList(slot, list);
        objects.setLinks(slot, before, next);
        if (before == NONE) {
            heads[list] = slot;
        } else {
            objects.setLinks(before, objects.previous(before), slot);
        }
        if (next == NONE) {
            tails[list] = slot;
        } else {
            objects.setLinks(next, slot, objects.next(next));
        }
    }

    /** The parked object whose protection is to be looked at next; goes round and round. */
    int nextToCheck(int list) {
        int slot = checks[list] == NONE ? heads[list] : checks[list];
        checks[list] = slot == NONE ? NONE : objects.next(slot);
        return slot;
    }

    void unlink(int slot) {
        int list = objects.list(slot);
        if (list == NO_LIST) {
            return;
        }
        int previous = objects.previous(slot);
        int next = objects.next(slot);
        if (slot == leased) {
            leased = next;
        }
        if (slot == checks[list]) {
            checks[list] = next;
        }
        subtract(slot);
        if (list == NEW) {
            newBytes -= objects.memoryBytes(slot);
        }
        if (previous == NONE) {
            heads[list] = next;
        } else {
            objects.setLinks(previous, objects.previous(previous), next);
        }
        if (next == NONE) {
            tails[list] = previous;
        } else {
            objects.setLinks(next, previous, objects.next(next));
        }
        objects.setList(slot, NO_LIST);
        objects.setLinks(slot, NONE, NONE);
    }

    /** Moves the border between expired and leased reads to {@code now}. */
    void expireReads(long now) {
        while (leased != NONE && objects.readLeaseUntil(leased) <= now) {
            subtract(leased);
            leased = objects.next(leased);
        }
    }

    private void subtract(int slot) {
        if (objects.has(slot, ObjectTable.SUMMED)) {
            objects.clear(slot, ObjectTable.SUMMED);
            readLeasedBytes -= objects.memoryBytes(slot);
        }
    }

    /** Follows a change of the bytes of an object whose bytes are in the sum. */
    void adjust(int slot, long bytes) {
        if (objects.has(slot, ObjectTable.SUMMED)) {
            readLeasedBytes += bytes;
        }
        if (objects.list(slot) == NEW) {
            newBytes += bytes;
        }
    }

    /** Bytes of objects that nobody has read since their put; only under TWO_QUEUES. */
    long newBytes() {
        return newBytes;
    }

    /** Bytes under read leases, as of the last {@link #expireReads}. */
    long readLeasedBytes() {
        return readLeasedBytes;
    }

    void digest(Digest digest) {
        for (int head : heads) {
            digest.add(head);
        }
        digest.add(leased);
        digest.add(readLeasedBytes);
        digest.add(uses);
    }

    /** First of READ that counts as leased. */
    int firstLeased() {
        return leased;
    }

    /** Number of uses so far, which is the latest stamp. */
    long uses() {
        return uses;
    }
}
