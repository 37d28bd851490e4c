package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.KeyShard;
import io.cassia.rpc.cassia.CassiaMessages.ListKeys;
import io.cassia.rpc.cassia.CassiaMessages.ListShard;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the master's lock. Operations over all objects, slice by slice in order of the slots,
 * so that nobody waits long for the lock.
 */
final class Scans {
    /** Slots looked at in one slice: some milliseconds. */
    private static final int SLOTS = 8192;

    /** Steps of a regular expression in one slice. */
    private static final long MOST_STEPS = 500_000;

    private final CoreState state;
    private final ObjectTable objects;
    private final Space space;
    private final Removals removals;
    private final Reads reads;

    Scans(CoreState state, Space space, Removals removals, Reads reads) {
        this.state = state;
        this.objects = state.objects;
        this.space = space;
        this.removals = removals;
        this.reads = reads;
    }

    Outcome<Slice<Long>> remove(Command.RemoveSlice slice) {
        long[] removed = {0};
        return scan(
                        slice.selection(),
                        slice.from(),
                        slot -> {
                            if (removals.removeIfPossible(
                                    slot, slice.force(), Fate.REMOVED_WITH_OTHERS)) {
                                removed[0]++;
                            }
                        })
                .map(rest -> new Slice<>(removed[0], rest));
    }

    Outcome<Slice<Map<ByteString, List<ReplicaDescriptor>>>> get(Command.GetSlice slice) {
        Map<ByteString, List<ReplicaDescriptor>> found = new LinkedHashMap<>();
        return scan(
                        slice.selection(),
                        slice.from(),
                        slot -> {
                            List<ReplicaDescriptor> replicas = space.readable(slot);
                            if (!replicas.isEmpty()) {
                                reads.lease(slot);
                                found.put(ByteString.wrap(objects.key(slot)), replicas);
                            }
                        })
                .map(rest -> new Slice<>(found, rest));
    }

    private Outcome<Optional<Cursor>> scan(Selection selection, Cursor from, IntConsumer visit) {
        try {
            int tenant = selection.tenant().map(state.tenants::find).orElse(Tenants.DEFAULT);
            if (tenant == Tenants.MALFORMED && selection.regex().isPresent()) {
                return Outcome.failed(StoreCode.INVALID_PARAMS, "malformed tenant name");
            }
            KeyRegex regex = selection.regex().map(KeyRegex::new).orElse(null);
            if (tenant < 0) {
                return Outcome.ok(Optional.empty());
            }
            boolean all = selection.tenant().isEmpty();
            long newest = from.newest() == 0 ? state.lastReplicaId() : from.newest();
            int last = Math.min(from.slot() + SLOTS - 1, objects.highestSlot());
            int slot = from.slot();
            for (; slot <= last && (regex == null || regex.steps() < MOST_STEPS); slot++) {
                if (objects.isNamed(slot)
                        && objects.replicaId(slot) <= newest
                        && (all || objects.tenant(slot) == tenant)
                        && (regex == null || regex.isFoundIn(objects.key(slot)))) {
                    visit.accept(slot);
                }
            }
            return Outcome.ok(
                    slot > objects.highestSlot()
                            ? Optional.empty()
                            : Optional.of(new Cursor(slot, newest)));
        } catch (KeyRegex.RegexFault e) {
            return Outcome.failed(StoreCode.INVALID_PARAMS, e.fault());
        }
    }

    /** The keys in one part of the index. */
    Outcome<KeyShard> listShard(ListShard query) {
        int tenant = state.tenants.find(query.tenant());
        if (tenant == Tenants.MALFORMED) {
            return Outcome.failed(StoreCode.INVALID_PARAMS, "malformed tenant name");
        }
        if (query.shard() < 0 || query.shard() >= KeyIndex.PARTS) {
            return Outcome.failed(
                    StoreCode.SHARD_INDEX_OUT_OF_RANGE,
                    "shard " + Long.toUnsignedString(query.shard()) + " of " + KeyIndex.PARTS);
        }
        List<KeyInfo> keys = new ArrayList<>();
        objects.forEachInPart(
                (int) query.shard(),
                slot -> {
                    if (objects.tenant(slot) == tenant && space.isValid(slot)) {
                        keys.add(info(slot));
                    }
                });
        return Outcome.ok(new KeyShard(KeyIndex.PARTS, keys));
    }

    /** Adds one slice's matches to {@code page}, which keeps the smallest keys. */
    Optional<Cursor> list(ListKeys query, Cursor from, NavigableMap<ByteString, KeyInfo> page) {
        int tenant = state.tenants.find(query.tenant());
        if (tenant < 0 || query.limit() <= 0) {
            return Optional.empty();
        }
        int end = from.slot() + SLOTS;
        byte[] prefix = query.prefix().array();
        byte[] after = query.after().array();
        byte @Nullable [] largest = page.size() < query.limit() ? null : page.lastKey().array();
        for (int slot = from.slot(); slot < end && slot <= objects.highestSlot(); slot++) {
            if (!objects.isNamed(slot) || objects.tenant(slot) != tenant) {
                continue;
            }
            byte[] key = objects.key(slot);
            if (startsWith(key, prefix)
                    && (after.length == 0 || Arrays.compareUnsigned(key, after) > 0)
                    && (largest == null || Arrays.compareUnsigned(key, largest) < 0)
                    && space.isValid(slot)) {
                page.put(ByteString.wrap(key), info(slot));
                if (page.size() > query.limit()) {
                    page.pollLastEntry();
                }
                largest = page.size() < query.limit() ? null : page.lastKey().array();
            }
        }
        return end > objects.highestSlot() ? Optional.empty() : Optional.of(new Cursor(end, 0));
    }

    private static boolean startsWith(byte[] key, byte[] prefix) {
        return key.length >= prefix.length
                && Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length);
    }

    private KeyInfo info(int slot) {
        long until =
                Math.max(
                        Math.max(objects.readLeaseUntil(slot), objects.existLeaseUntil(slot)),
                        objects.leaseCount(slot) > 0 ? state.leases.latestEnd() : 0);
        return new KeyInfo(
                ByteString.wrap(objects.key(slot)),
                objects.size(slot),
                space.isReadable(slot),
                space.replicaCount(slot),
                TimeUnit.NANOSECONDS.toMillis(Math.max(0, until - state.now)));
    }
}
