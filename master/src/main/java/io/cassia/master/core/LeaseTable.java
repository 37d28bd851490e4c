package io.cassia.master.core;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;

/**
 * Confined to the master's lock. Counted leases: one id covers all objects of one acquire, ends by
 * release or by time, and each object counts how many cover it. An object that is erased under a
 * lease keeps its slot until the last lease is gone, so a lease never touches a stranger.
 */
final class LeaseTable {
    private static final class Lease {
        final long order;
        final long id;
        final long until;
        int[] slots;
        int ended;

        Lease(long order, long id, long until, int[] slots) {
            this.order = order;
            this.id = id;
            this.until = until;
            this.slots = slots;
        }
    }

    private final CoreState state;
    private final Map<Long, Lease> byId = new HashMap<>();
    private final TreeSet<Lease> byEnd =
            new TreeSet<>(
                    Comparator.<Lease>comparingLong(lease -> lease.until)
                            .thenComparingLong(lease -> lease.order));
    private long lastOrder;
    private long bytes;

    LeaseTable(CoreState state) {
        this.state = state;
    }

    boolean isFull() {
        return byId.size() >= state.config.maxLeases();
    }

    /** Counts one more lease on an object; it is out of the eviction order from now on. */
    void hold(int slot) {
        ObjectTable objects = state.objects;
        int count = objects.leaseCount(slot);
        objects.setLeaseCount(slot, count + 1);
        if (count == 0) {
            adjust(slot, objects.memoryBytes(slot));
            if (objects.list(slot) != RecencyLists.IN_FLIGHT) {
                state.recency.move(slot, RecencyLists.NO_LIST);
            }
        }
    }

    /** The id of a new lease on the first {@code count} of {@code slots}, which are held. */
    long create(int[] slots, int count, long until) {
        long id = 0;
        while (id == 0) {
            id = scramble(++lastOrder + state.config.seed());
        }
        Lease lease = new Lease(lastOrder, id, until, Arrays.copyOf(slots, count));
        byId.put(id, lease);
        byEnd.add(lease);
        return id;
    }

    boolean isLive(long id) {
        return byId.containsKey(id);
    }

    /** Lets a lease that is live cover more objects, which are held. */
    void extend(long id, int[] slots, int count) {
        Lease lease = byId.get(id);
        if (lease == null) {
            throw new IllegalStateException("lease " + id + " is over");
        }
        int before = lease.slots.length;
        lease.slots = Arrays.copyOf(lease.slots, before + count);
        System.arraycopy(slots, 0, lease.slots, before, count);
    }

    /** Ends a lease; one that is over or never was is ignored. */
    void release(long id) {
        Lease lease = byId.remove(id);
        if (lease != null) {
            byEnd.remove(lease);
            end(lease, Integer.MAX_VALUE);
        }
    }

    /**
     * Ends leases whose time is over, {@code budget} objects at most; returns what is left of it.
     */
    @CanIgnoreReturnValue
    int expire(int budget) {
        int left = budget;
        while (left > 0 && !byEnd.isEmpty()) {
            Lease first = byEnd.first();
            if (first.until > state.now) {
                break;
            }
            left -= end(first, left);
            if (first.ended == first.slots.length) {
                byEnd.remove(first);
                byId.remove(first.id);
                state.counters.add(CoreCount.LEASES_EXPIRED, 1);
            }
        }
        return left;
    }

    @CanIgnoreReturnValue
    private int end(Lease lease, int budget) {
        int ended = 0;
        while (lease.ended < lease.slots.length && ended < budget) {
            drop(lease.slots[lease.ended++]);
            ended++;
        }
        return ended;
    }

    private void drop(int slot) {
        ObjectTable objects = state.objects;
        int count = objects.leaseCount(slot) - 1;
        boolean zombie = objects.has(slot, ObjectTable.ZOMBIE);
        if (count == 0 && !zombie) {
            adjust(slot, -objects.memoryBytes(slot));
        }
        objects.setLeaseCount(slot, count);
        if (count > 0) {
            return;
        }
        if (zombie) {
            objects.recycle(slot);
            return;
        }
        if (objects.list(slot) == RecencyLists.NO_LIST
                && !objects.has(slot, ObjectTable.HARD_PIN | ObjectTable.REPLICATING)) {
            state.recency.use(slot, RecencyLists.IDLE);
        }
    }

    /** Follows a change of the bytes of an object; pinned ones are in the sum of the pinned. */
    void adjust(int slot, long change) {
        if (state.objects.leaseCount(slot) > 0 && !state.objects.has(slot, ObjectTable.HARD_PIN)) {
            bytes += change;
        }
    }

    void digest(Digest digest) {
        for (Lease lease : byEnd) {
            digest.add(lease.id);
            digest.add(lease.until);
            digest.add(lease.ended);
            for (int slot : lease.slots) {
                digest.add(slot);
            }
        }
    }

    /** Bytes of objects under counted leases that are not hard-pinned. */
    long bytes() {
        return bytes;
    }

    int count() {
        return byId.size();
    }

    /** Time at which the last counted lease of now is over at the latest. */
    long latestEnd() {
        return byEnd.isEmpty() ? 0 : byEnd.last().until;
    }

    /** A bijection, so ids are unique; nobody can guess another client's. */
    private static long scramble(long number) {
        long mixed = (number ^ (number >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return mixed ^ (mixed >>> 31);
    }
}
