package io.cassia.master.core;

import java.util.Arrays;

/**
 * Confined to the master's lock. Each tenant's objects in order of their last use, so that a tenant
 * that is at its quota finds its own coldest objects without passing those of others. Costs 8 bytes
 * per object, and nothing while tenancy is off.
 */
final class TenantOrder {
    private static final int NONE = ObjectTable.NONE;
    private static final int PAGE_BITS = 10;
    private static final int PAGE_MASK = (1 << PAGE_BITS) - 1;

    private final ObjectTable objects;
    private final boolean enabled;
    private long[][] links = new long[4][];
    private int[] heads = new int[4];
    private int[] tails = new int[4];

    TenantOrder(ObjectTable objects, boolean enabled) {
        this.objects = objects;
        this.enabled = enabled;
    }

    /** A new object, the last to go. */
    void add(int slot) {
        if (!enabled) {
            return;
        }
        int page = slot >>> PAGE_BITS;
        if (page >= links.length) {
            links = Arrays.copyOf(links, Math.max(page + 1, links.length * 2));
        }
        if (links[page] == null) {
            links[page] = new long[1 << PAGE_BITS];
        }
        int tenant = objects.tenant(slot);
        if (tenant >= heads.length) {
            int larger = Math.max(tenant + 1, heads.length * 2);
            heads = Arrays.copyOf(heads, larger);
            tails = Arrays.copyOf(tails, larger);
        }
        int before = tails[tenant];
        set(slot, before, NONE);
        tails[tenant] = slot;
        if (before == NONE) {
            heads[tenant] = slot;
        } else {
            set(before, previous(before), slot);
        }
    }

    /** The object was used. */
    void use(int slot) {
        if (enabled) {
            remove(slot);
            add(slot);
        }
    }

    void remove(int slot) {
        if (!enabled) {
            return;
        }
        int tenant = objects.tenant(slot);
        int before = previous(slot);
        int after = next(slot);
        if (before == NONE) {
            heads[tenant] = after;
        } else {
            set(before, previous(before), after);
        }
        if (after == NONE) {
            tails[tenant] = before;
        } else {
            set(after, before, next(after));
        }
        set(slot, NONE, NONE);
    }

    /** The tenant's object that was used longest ago; 0 when it has none. */
    int head(int tenant) {
        return tenant < heads.length ? heads[tenant] : NONE;
    }

    int next(int slot) {
        return (int) links[slot >>> PAGE_BITS][slot & PAGE_MASK];
    }

    private int previous(int slot) {
        return (int) (links[slot >>> PAGE_BITS][slot & PAGE_MASK] >>> 32);
    }

    private void set(int slot, int previous, int next) {
        links[slot >>> PAGE_BITS][slot & PAGE_MASK] =
                ((long) previous << 32) | (next & 0xFFFF_FFFFL);
    }
}
