package io.cassia.master.core;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the master's lock. Makes room within a tenant's quota by evicting its own objects, in
 * two steps at most: those that nothing protects, then those that an exist lease or a soft pin
 * protects. It first looks whether that is enough, so that a write that could not fit anyway costs
 * nobody an object (upstream evicts first, spec mooncake-store 9.3).
 */
final class TenantRoom {
    private static final int NONE = ObjectTable.NONE;

    /** Objects looked at in one step for one write. */
    private static final int MOST_STEPS = 50_000;

    private final CoreState state;
    private final Evictor evictor;

    TenantRoom(CoreState state, Evictor evictor) {
        this.state = state;
        this.evictor = evictor;
    }

    /** Objects whose eviction makes so many bytes fit; null when there are not enough. */
    int @Nullable [] plan(int tenant, long bytes, Room room) {
        long missing = state.tenants.missing(tenant, bytes);
        if (missing <= 0) {
            return new int[0];
        }
        if (bytes < 0 || bytes > state.tenants.effective(tenant)) {
            return null;
        }
        int[] victims = new int[16];
        int count = 0;
        for (boolean protectedToo : new boolean[] {false, true}) {
            if (protectedToo && room != Room.DEMANDED) {
                break;
            }
            int slot = state.tenantOrder.head(tenant);
            for (int step = 0; slot != NONE && missing > 0 && step < MOST_STEPS; step++) {
                boolean free = evictor.isUnprotected(slot);
                if (protectedToo ? !free && evictor.isOverridable(slot) : free) {
                    if (count == victims.length) {
                        victims = Arrays.copyOf(victims, count * 2);
                    }
                    victims[count++] = slot;
                    missing -= state.objects.memoryBytes(slot);
                }
                slot = state.tenantOrder.next(slot);
            }
        }
        return missing > 0 ? null : Arrays.copyOf(victims, count);
    }

    /** Evicts what is still there of a plan until so many bytes fit. */
    void carryOut(int[] plan, int tenant, long bytes) {
        for (int slot : plan) {
            if (state.tenants.missing(tenant, bytes) <= 0) {
                return;
            }
            if (state.objects.isLive(slot)
                    && state.objects.tenant(slot) == tenant
                    && evictor.isOverridable(slot)) {
                state.counters.add(CoreCount.TENANT_EVICTED_BYTES, state.objects.memoryBytes(slot));
                state.tenants.evicted(tenant, state.objects.memoryBytes(slot));
                evictor.evict(slot, Fate.EVICTED_FOR_TENANT);
            }
        }
    }
}
