package io.cassia.datadist.cache;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Guarded by its table's lock. Bound keys in the order of binding. */
final class KeyTable {
    private final Map<KeyName, BoundKey> keys = new LinkedHashMap<>();

    @Nullable BoundKey find(KeyName name) {
        return keys.get(name);
    }

    void bind(CacheEntry entry, NewCache cache, long nowNanos) {
        for (int batch = 0; batch < cache.keys().size(); batch++) {
            CacheKey key = cache.keys().get(batch);
            if (!key.isPlaceholder()) {
                BoundKey bound = new BoundKey(KeyName.of(key), entry, batch, nowNanos);
                keys.put(bound.name, bound);
                entry.keys.put(batch, bound);
            }
        }
        cache.blocksKey()
                .ifPresent(
                        key -> {
                            BoundKey bound = new BoundKey(KeyName.of(key), entry, 0, nowNanos);
                            keys.put(bound.name, bound);
                            entry.blocksKey = bound;
                        });
    }

    void unbind(BoundKey key) {
        key.bound = false;
        keys.remove(key.name, key);
        if (key.entry.blocksKey == key) {
            key.entry.blocksKey = null;
        } else {
            key.entry.keys.remove(key.batch, key);
        }
    }

    void unbindAll(CacheEntry entry) {
        for (BoundKey key : List.copyOf(entry.keys.values())) {
            unbind(key);
        }
        if (entry.blocksKey != null) {
            unbind(entry.blocksKey);
        }
    }

    int count() {
        return keys.size();
    }

    /** Request and prefix keys that are old enough and in no transfer. */
    List<BoundKey> olderThan(long nowNanos, long ageNanos) {
        List<BoundKey> old = new ArrayList<>();
        for (BoundKey key : keys.values()) {
            if (nowNanos - key.boundAtNanos < ageNanos) {
                break;
            }
            if (key.claims == 0 && key.name.kind() != KeyName.Kind.BLOCKS) {
                old.add(key);
            }
        }
        return old;
    }

    List<KeyInfo> infos(long nowNanos) {
        return keys.values().stream()
                .map(
                        key ->
                                new KeyInfo(
                                        key.name.toString(),
                                        key.entry.id,
                                        key.batch,
                                        nowNanos - key.boundAtNanos,
                                        key.remainingTensors()))
                .toList();
    }
}
