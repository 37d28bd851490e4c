package io.cassia.master.core;

import io.cassia.base.ByteString;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the master's lock. Numbers for tenant names. The default tenant is 0; another one has
 * a number as long as it has objects. With tenancy off every name means the default tenant, as
 * upstream (spec mooncake-store 9).
 */
final class Tenants {
    static final ByteString DEFAULT_NAME = ByteString.of("default");
    static final int DEFAULT = 0;
    static final int UNKNOWN = -1;

    /** Not a tenant name: starts with {@code _} or holds a control character. */
    static final int MALFORMED = -2;

    private final boolean enabled;
    private final Map<ByteString, Integer> numbers = new HashMap<>();
    private final List<@Nullable ByteString> names = new ArrayList<>();
    private final List<Integer> objects = new ArrayList<>();
    private final List<Integer> recycled = new ArrayList<>();

    /** The tenant of the put being worked on, which keeps its number though it has no object. */
    private int inUse = DEFAULT;

    Tenants(boolean enabled) {
        this.enabled = enabled;
        names.add(DEFAULT_NAME);
        objects.add(0);
    }

    /** {@link #UNKNOWN} for a tenant without objects. */
    int find(ByteString name) {
        if (!enabled || name.isEmpty() || name.equals(DEFAULT_NAME)) {
            return DEFAULT;
        }
        Integer number = numbers.get(name);
        if (number != null) {
            return number;
        }
        return isWellFormed(name) ? UNKNOWN : MALFORMED;
    }

    /**
     * The tenant's number, given to it if it has none, and kept until {@link #leave}; {@link
     * #MALFORMED} is passed on.
     */
    int enter(ByteString name) {
        int found = find(name);
        inUse = found == UNKNOWN ? create(name) : found;
        return inUse;
    }

    /** Ends what {@link #enter} began. */
    void leave() {
        int tenant = inUse;
        inUse = DEFAULT;
        if (tenant > DEFAULT) {
            releaseIfUnused(tenant);
        }
    }

    private int create(ByteString name) {
        int number;
        if (recycled.isEmpty()) {
            number = names.size();
            names.add(name);
            objects.add(0);
        } else {
            number = recycled.removeLast();
            names.set(number, name);
        }
        numbers.put(name, number);
        return number;
    }

    boolean isNamed(int tenant) {
        return names.get(tenant) != null;
    }

    void objectCreated(int tenant) {
        if (tenant != DEFAULT) {
            objects.set(tenant, objects.get(tenant) + 1);
        }
    }

    void objectErased(int tenant) {
        if (tenant != DEFAULT) {
            int left = objects.get(tenant) - 1;
            objects.set(tenant, left);
            releaseIfUnused(tenant);
        }
    }

    private void releaseIfUnused(int tenant) {
        if (tenant != inUse && objects.get(tenant) == 0) {
            ByteString name = names.set(tenant, null);
            if (name != null) {
                numbers.remove(name);
                recycled.add(tenant);
            }
        }
    }

    private static boolean isWellFormed(ByteString name) {
        if (name.at(0) == '_') {
            return false;
        }
        for (int i = 0; i < name.length(); i++) {
            int symbol = name.at(i) & 0xFF;
            if (symbol < 0x20 || symbol == 0x7F) {
                return false;
            }
        }
        return true;
    }
}
