package io.cassia.datadist.cache;

import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Guarded by its table's lock. Caches, their keys and their references, without waiting and without
 * giving memory back: who takes {@link #freed()} does that.
 */
final class CacheBook {
    private final CacheTable table;
    private final Map<Long, CacheEntry> entries = new TreeMap<>();
    private final KeyTable keys = new KeyTable();
    private final AddressIndex addresses = new AddressIndex();
    private List<CacheEntry> freed = new ArrayList<>();
    private long lastId;

    CacheBook(CacheTable table) {
        this.table = table;
    }

    /**
     * The entries whose memory has become free since the last call. The caller keeps the list when
     * it has left the lock, so nothing may be added to it.
     */
    List<CacheEntry> freed() {
        if (freed.isEmpty()) {
            return List.of();
        }
        List<CacheEntry> taken = freed;
        freed = new ArrayList<>();
        return taken;
    }

    Outcome<Cache> add(NewCache cache, long nowNanos) {
        if (requireUnbound(cache) instanceof Outcome.Failed<Done> failed) {
            return failed.as();
        }
        CacheEntry entry = new CacheEntry(++lastId, cache);
        entries.put(entry.id, entry);
        addresses.add(entry);
        keys.bind(entry, cache, nowNanos);
        return Outcome.ok(new Cache(entry.id, cache.desc(), cache.tensors()));
    }

    Outcome<Done> requireUnbound(NewCache cache) {
        for (CacheKey key : cache.keys()) {
            BoundKey other = key.isPlaceholder() ? null : keys.find(KeyName.of(key));
            if (other != null) {
                return boundAlready(other);
            }
        }
        BoundKey other = cache.blocksKey().map(key -> keys.find(KeyName.of(key))).orElse(null);
        return other == null ? Outcome.done() : boundAlready(other);
    }

    /** The entry of a number, also while it is being taken back; or null. */
    @Nullable CacheEntry findAny(long cacheId) {
        CacheEntry entry = entries.get(cacheId);
        return entry != null && entry.idReference ? entry : null;
    }

    /** The entry that calls can name, or null. */
    @Nullable CacheEntry find(long cacheId) {
        CacheEntry entry = entries.get(cacheId);
        return entry != null && entry.isAddressable() ? entry : null;
    }

    /** Ends the life of a number; keys go with it where {@code dropKeys} says so. */
    void dropNumber(CacheEntry entry, boolean dropKeys) {
        entry.idReference = false;
        if (dropKeys) {
            keys.unbindAll(entry);
        }
        reap(entry);
    }

    void removeKey(KeyName name) {
        BoundKey key = keys.find(name);
        if (key != null) {
            unbind(key);
        }
    }

    int expireKeys(long nowNanos, long ageNanos) {
        List<BoundKey> old = keys.olderThan(nowNanos, ageNanos);
        old.forEach(this::unbind);
        return old.size();
    }

    private void unbind(BoundKey key) {
        keys.unbind(key);
        reap(key.entry);
    }

    Pin pin(CacheEntry entry) {
        return pin(entry, 0, null, false);
    }

    Outcome<Pin> pin(CacheRef ref) {
        return switch (ref) {
            case CacheIndex index -> pin(index);
            case CacheKey key -> pin(KeyName.of(key));
            case BlocksCacheKey key -> pin(KeyName.of(key));
        };
    }

    private Outcome<Pin> pin(CacheIndex index) {
        CacheEntry entry = find(index.cacheId());
        if (entry == null) {
            return CacheTable.missing(index.cacheId());
        }
        int batch = index.batchIndex();
        if (batch < 0 || batch >= entry.geometry.batches()) {
            return Outcome.failed(
                    LlmStatus.LLM_KV_CACHE_NOT_EXIST,
                    "cache %d has %d batches, none with index %d"
                            .formatted(entry.id, entry.geometry.batches(), batch));
        }
        return Outcome.ok(pin(entry, batch, consumable(entry.keys.get(batch)), false));
    }

    private Outcome<Pin> pin(KeyName name) {
        BoundKey key = keys.find(name);
        if (key == null || key.entry.draining) {
            return Outcome.failed(
                    LlmStatus.LLM_KV_CACHE_NOT_EXIST,
                    "no cache is bound to %s: not computed yet, pulled already, or removed"
                            .formatted(name));
        }
        return Outcome.ok(pin(key.entry, key.batch, consumable(key), true));
    }

    private static @Nullable BoundKey consumable(@Nullable BoundKey key) {
        return key != null && key.name.kind() == KeyName.Kind.REQUEST ? key : null;
    }

    private Pin pin(CacheEntry entry, int batch, @Nullable BoundKey key, boolean byKey) {
        entry.pins++;
        if (key != null) {
            key.claims++;
        }
        return new Pin(table, entry, batch, key, byKey);
    }

    boolean exists(CacheRef ref) {
        return switch (ref) {
            case CacheIndex index -> find(index.cacheId()) != null;
            case CacheKey key -> keys.find(KeyName.of(key)) != null;
            case BlocksCacheKey key -> keys.find(KeyName.of(key)) != null;
        };
    }

    Outcome<Pin> pinRanges(List<Long> starts, long lengthBytes) {
        CacheEntry owner = null;
        for (long start : starts) {
            CacheEntry entry = addresses.find(start, lengthBytes);
            boolean same = owner == null || owner == entry;
            if (entry == null || !entry.isAddressable() || !same) {
                return CacheTable.invalid(
                        "address 0x%x with %d bytes is not inside one live cache"
                                .formatted(start, lengthBytes));
            }
            owner = entry;
        }
        return owner == null
                ? CacheTable.invalid("no destination address")
                : Outcome.ok(pin(owner));
    }

    void unpin(Pin pin) {
        if (pin.entry.freed) {
            return;
        }
        pin.entry.pins--;
        if (pin.key != null) {
            pin.key.claims--;
        }
        reap(pin.entry);
    }

    Outcome<Done> consume(Pin pin, TensorSelection tensors) {
        BoundKey key = pin.key;
        if (key == null) {
            return Outcome.done();
        }
        if (key.bound) {
            if (key.fetched(tensors)) {
                unbind(key);
            }
            return Outcome.done();
        }
        return pin.isByKey()
                ? Outcome.failed(
                        LlmStatus.LLM_KV_CACHE_NOT_EXIST,
                        key.name + " was consumed or removed during the transfer")
                : Outcome.done();
    }

    List<CacheInfo> caches() {
        return entries.values().stream().map(CacheEntry::info).toList();
    }

    List<KeyInfo> keys(long nowNanos) {
        return keys.infos(nowNanos);
    }

    int cacheCount() {
        return entries.size();
    }

    int keyCount() {
        return keys.count();
    }

    void clear() {
        for (CacheEntry entry : List.copyOf(entries.values())) {
            entry.pins = 0;
            dropNumber(entry, true);
        }
    }

    private void reap(CacheEntry entry) {
        if (entry.isUnreferenced() && !entry.freed) {
            entry.freed = true;
            entries.remove(entry.id);
            addresses.remove(entry);
            freed.add(entry);
        }
    }

    private static <T> Outcome<T> boundAlready(BoundKey key) {
        return CacheTable.invalid(
                "%s names cache %d already (upstream: 0x5010B015 CACHE_KEY_ALREADY_EXIST): remove the key first"
                        .formatted(key.name, key.entry.id));
    }
}
