package io.cassia.master.core;

import org.jspecify.annotations.Nullable;

/**
 * Confined to the master's lock. What protects an object from eviction: never to be overridden are
 * a write in flight, a hard pin, a copy under way, a read lease and a counted lease; an exist lease
 * and a soft pin count as long as others can be had.
 */
final class Protection {
    private final CoreState state;
    private final ObjectTable objects;
    private final Space space;

    Protection(CoreState state, Space space) {
        this.state = state;
        this.objects = state.objects;
        this.space = space;
    }

    /** When the read and the exist lease are both over. */
    long timedLeaseUntil(int slot) {
        return Math.max(objects.existLeaseUntil(slot), objects.readLeaseUntil(slot));
    }

    boolean isSoftPinned(int slot) {
        ObjectExtra extra = objects.extra(slot);
        return extra != null && extra.softPinUntil > state.now;
    }

    /** Whether a lease on another member keeps the whole group. */
    boolean isHeldByGroup(int slot, boolean existCounts) {
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

    GroupTable.@Nullable Group groupOf(int slot) {
        ObjectExtra extra = objects.extra(slot);
        return extra == null ? null : extra.group;
    }

    /** Whether an eviction may take the object without overriding any protection. */
    boolean isUnprotected(int slot) {
        return slot != ObjectTable.NONE
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
}
