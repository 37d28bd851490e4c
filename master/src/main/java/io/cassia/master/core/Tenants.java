package io.cassia.master.core;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.TenantQuota;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.Outcome.Failed;
import io.cassia.status.StoreCode;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the master's lock. Tenants: their numbers, quotas and what they are charged. The
 * default tenant is 0. With tenancy off every name means the default tenant and nothing is limited;
 * with it on only registered tenants may write, the default one included (spec mooncake-store 9).
 *
 * <p>While the quotas exceed the capacity each tenant's effective quota is its proportional share,
 * rounded down; the bytes left over go to the largest remainders, of equal ones to the smaller
 * name.
 */
final class Tenants {
    static final ByteString DEFAULT_NAME = ByteString.of("default");
    static final int DEFAULT = 0;
    static final int UNKNOWN = -1;

    /** Not a tenant name: starts with {@code _} or holds a control character. */
    static final int MALFORMED = -2;

    /** Tenants at one time: each change of the capacity recomputes all shares. */
    private static final int MOST_TENANTS = 10_000;

    private static final int LONGEST_NAME = 1024;

    private static final class Tenant {
        final ByteString name;
        final int number;
        boolean registered;
        long requested;
        long effective;
        long charged;
        long reserved;
        int objects;
        long refusedWrites;
        long evictedBytes;

        Tenant(ByteString name, int number) {
            this.name = name;
            this.number = number;
        }

        boolean isEmpty() {
            return objects == 0 && charged == 0;
        }
    }

    private final boolean enabled;
    private final Map<ByteString, Tenant> byName = new TreeMap<>();
    private final List<@Nullable Tenant> byNumber = new ArrayList<>();
    private final List<Integer> recycled = new ArrayList<>();
    private long capacity;

    Tenants(boolean enabled) {
        this.enabled = enabled;
        Tenant _ = create(DEFAULT_NAME);
    }

    boolean isEnabled() {
        return enabled;
    }

    /** {@link #UNKNOWN} for a tenant that has neither a quota nor objects. */
    int find(ByteString name) {
        if (!enabled || name.isEmpty() || name.equals(DEFAULT_NAME)) {
            return DEFAULT;
        }
        Tenant tenant = byName.get(name);
        if (tenant != null) {
            return tenant.number;
        }
        return isWellFormed(name) ? UNKNOWN : MALFORMED;
    }

    @CanIgnoreReturnValue
    private Tenant create(ByteString name) {
        int number = recycled.isEmpty() ? byNumber.size() : recycled.removeLast();
        Tenant tenant = new Tenant(name, number);
        if (number == byNumber.size()) {
            byNumber.add(tenant);
        } else {
            byNumber.set(number, tenant);
        }
        byName.put(name, tenant);
        return tenant;
    }

    private Tenant at(int number) {
        Tenant tenant = byNumber.get(number);
        if (tenant == null) {
            throw new IllegalStateException("no tenant has the number " + number);
        }
        return tenant;
    }

    ByteString name(int number) {
        return at(number).name;
    }

    boolean isNamed(int number) {
        return number < byNumber.size() && byNumber.get(number) != null;
    }

    /** Null when the tenant's name may be used in a write at all; spec 3.2, row 1. */
    <T> @Nullable Failed<T> checkName(ByteString name) {
        boolean fine = !enabled || (!name.isEmpty() && find(name) != MALFORMED);
        return fine
                ? null
                : Outcome.failed(
                        StoreCode.TENANT_NOT_REGISTERED,
                        "'" + name + "' is not the name of a tenant");
    }

    /** Null when the tenant may write. */
    <T> @Nullable Failed<T> checkRegistered(ByteString name) {
        Failed<T> refused = checkName(name);
        if (refused != null || !enabled) {
            return refused;
        }
        Tenant tenant = byName.get(name);
        return tenant != null && tenant.registered
                ? null
                : Outcome.failed(
                        StoreCode.TENANT_NOT_REGISTERED,
                        "tenant " + name + " has no quota; an administrator must set one");
    }

    /** Null when so many bytes more are within the tenant's quota. */
    <T> @Nullable Failed<T> checkQuota(int number, long bytes, ByteString key) {
        return missing(number, bytes) <= 0 ? null : overQuota(number, bytes, key, "");
    }

    <T> Failed<T> overQuota(int number, long bytes, ByteString key, String why) {
        Tenant tenant = at(number);
        tenant.refusedWrites++;
        return Outcome.failed(
                StoreCode.TENANT_QUOTA_EXCEEDED,
                "key "
                        + key
                        + ": tenant "
                        + tenant.name
                        + " wants "
                        + bytes
                        + " bytes more; charged="
                        + tenant.charged
                        + " quota="
                        + tenant.effective
                        + " requested-quota="
                        + tenant.requested
                        + why);
    }

    /** Bytes that the tenant would be over its quota with so many more; 0 or less when it fits. */
    long missing(int number, long bytes) {
        if (!enabled) {
            return 0;
        }
        Tenant tenant = at(number);
        long room = tenant.effective - tenant.charged;
        return bytes < 0 ? Long.MAX_VALUE : saturated(bytes, room);
    }

    private static long saturated(long bytes, long room) {
        long missing = bytes - room;
        return room < 0 && missing < 0 ? Long.MAX_VALUE : missing;
    }

    /** The tenant's share of the capacity, or all it asked for. */
    long effective(int number) {
        return enabled ? at(number).effective : Long.MAX_VALUE;
    }

    void charge(int number, long bytes) {
        at(number).charged += bytes;
    }

    /** Counts bytes, charged already, that have no key yet. */
    void reserve(int number, long bytes) {
        at(number).reserved += bytes;
    }

    long reserved(int number) {
        return at(number).reserved;
    }

    void objectCreated(int number) {
        at(number).objects++;
    }

    void objectErased(int number) {
        at(number).objects--;
    }

    /** Whether {@link #set} would do it. */
    Outcome<Done> check(ByteString name, long requested) {
        Failed<Done> refused = checkSet(name, requested);
        return refused == null ? Outcome.done() : refused;
    }

    private <T> @Nullable Failed<T> checkSet(ByteString name, long requested) {
        Failed<T> refused = checkMode();
        if (refused != null) {
            return refused;
        }
        if (name.isEmpty() || !isWellFormed(name) || requested <= 0) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "tenant '" + name + "' quota=" + requested + ": bad name, or no quota");
        }
        return byName.containsKey(name) || byName.size() < MOST_TENANTS
                ? null
                : Outcome.failed(
                        StoreCode.INVALID_PARAMS,
                        "tenants=" + byName.size() + ", which is the limit");
    }

    Outcome<TenantQuota> set(ByteString name, long requested) {
        Failed<TenantQuota> refused = checkSet(name, requested);
        if (refused != null) {
            return refused;
        }
        Tenant tenant = byName.get(name);
        Tenant changed = tenant == null ? create(name) : tenant;
        changed.registered = true;
        changed.requested = requested;
        share();
        return Outcome.ok(quota(changed));
    }

    /** Of all tenants that their quotas have cost something, in order of their names. */
    List<TenantToll> tolls() {
        return byName.values().stream()
                .filter(tenant -> tenant.refusedWrites > 0 || tenant.evictedBytes > 0)
                .map(each -> new TenantToll(each.name, each.refusedWrites, each.evictedBytes))
                .toList();
    }

    /** Counts bytes that went to make room within the quota. */
    void evicted(int number, long bytes) {
        at(number).evictedBytes += bytes;
    }

    /** One tenant, or all in order of their names. */
    Outcome<List<TenantQuota>> list(ByteString name) {
        Failed<List<TenantQuota>> refused = checkMode();
        if (refused != null) {
            return refused;
        }
        if (name.isEmpty()) {
            return Outcome.ok(
                    byName.values().stream()
                            .filter(tenant -> tenant.registered || !tenant.isEmpty())
                            .map(Tenants::quota)
                            .toList());
        }
        Tenant tenant = byName.get(name);
        return tenant == null || !(tenant.registered || !tenant.isEmpty())
                ? unknown(name)
                : Outcome.ok(List.of(quota(tenant)));
    }

    /** Whether there is such a tenant, and whatever it is charged is for no object. */
    boolean isWithoutObjects(ByteString name) {
        Tenant tenant = enabled ? byName.get(name) : null;
        return tenant != null && tenant.objects == 0;
    }

    Outcome<Done> delete(ByteString name) {
        Failed<Done> refused = checkMode();
        if (refused != null) {
            return refused;
        }
        Tenant tenant = byName.get(name);
        if (tenant == null || !tenant.registered) {
            return unknown(name);
        }
        if (!tenant.isEmpty()) {
            return Outcome.failed(
                    StoreCode.TENANT_NOT_EMPTY,
                    "tenant "
                            + name
                            + " has objects="
                            + tenant.objects
                            + " charged="
                            + tenant.charged
                            + "; remove them first");
        }
        tenant.registered = false;
        tenant.requested = 0;
        tenant.effective = 0;
        if (tenant.number != DEFAULT) {
            byName.remove(name);
            byNumber.set(tenant.number, null);
            recycled.add(tenant.number);
        }
        share();
        return Outcome.done();
    }

    private <T> @Nullable Failed<T> checkMode() {
        return enabled
                ? null
                : Outcome.failed(
                        StoreCode.UNAVAILABLE_IN_CURRENT_MODE,
                        "this master has no tenants; start it with enable_multi_tenants");
    }

    private static <T> Failed<T> unknown(ByteString name) {
        return Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "tenant " + name + " has no quota");
    }

    private static TenantQuota quota(Tenant tenant) {
        return new TenantQuota(
                tenant.name,
                tenant.requested,
                tenant.effective,
                tenant.charged,
                tenant.objects,
                !tenant.registered,
                tenant.charged > tenant.effective,
                tenant.registered);
    }

    /** The capacity that the tenants share. */
    void setCapacity(long bytes) {
        if (bytes != capacity) {
            capacity = bytes;
            share();
        }
    }

    private record Share(Tenant tenant, BigInteger remainder) {}

    private void share() {
        BigInteger sum = BigInteger.ZERO;
        for (Tenant tenant : byName.values()) {
            sum = sum.add(BigInteger.valueOf(tenant.requested));
        }
        BigInteger whole = BigInteger.valueOf(capacity);
        if (sum.compareTo(whole) <= 0) {
            byName.values().forEach(tenant -> tenant.effective = tenant.requested);
            return;
        }
        long left = capacity;
        List<Share> shares = new ArrayList<>();
        for (Tenant tenant : byName.values()) {
            BigInteger[] part =
                    whole.multiply(BigInteger.valueOf(tenant.requested)).divideAndRemainder(sum);
            tenant.effective = part[0].longValueExact();
            left -= tenant.effective;
            shares.add(new Share(tenant, part[1]));
        }
        // The sort is stable and the shares are in the order of their names.
        shares.sort(Comparator.comparing(Share::remainder).reversed());
        for (int i = 0; i < left; i++) {
            shares.get(i).tenant.effective++;
        }
    }

    void digest(Digest digest) {
        digest.add(capacity);
        for (Tenant tenant : byName.values()) {
            digest.add(tenant.name.array());
            digest.add(tenant.number);
            digest.add(tenant.requested);
            digest.add(tenant.effective);
            digest.add(tenant.charged);
            digest.add(tenant.reserved);
            digest.add(tenant.objects);
        }
    }

    /** What a tenant is charged. */
    long charged(int number) {
        return at(number).charged;
    }

    private static boolean isWellFormed(ByteString name) {
        if (name.at(0) == '_' || name.length() > LONGEST_NAME) {
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
