package io.cassia.app.replay;

import io.cassia.base.ByteString;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A plain LRU map of at most {@code capacity} blocks. Guarded by its monitor. */
final class FakeStore implements BlockStore {
    private final int capacity;
    private final Map<ByteString, byte[]> blocks = new LinkedHashMap<>(16, 0.75f, true);
    private long evicted;

    FakeStore(int capacity) {
        this.capacity = capacity;
    }

    static FakeStore unbounded() {
        return new FakeStore(Integer.MAX_VALUE);
    }

    /** The live map: tests break things in it. */
    synchronized Map<ByteString, byte[]> blocks() {
        return blocks;
    }

    synchronized byte[] block(String key) {
        return Objects.requireNonNull(blocks.get(ByteString.of(key)), key);
    }

    @Override
    public synchronized List<Outcome<Long>> getPrefix(
            List<ByteString> keys, List<MemorySegment> into) {
        List<Outcome<Long>> read = new ArrayList<>();
        for (ByteString key : keys) {
            byte[] value = blocks.get(key);
            if (value == null) {
                break;
            }
            MemorySegment.copy(
                    value, 0, into.get(read.size()), ValueLayout.JAVA_BYTE, 0, value.length);
            read.add(Outcome.ok((long) value.length));
        }
        return read;
    }

    @Override
    public synchronized List<Outcome<Done>> putBatch(
            List<ByteString> keys, List<MemorySegment> values) {
        List<Outcome<Done>> stored = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            stored.add(put(keys.get(i), values.get(i)));
        }
        return stored;
    }

    private Outcome<Done> put(ByteString key, MemorySegment value) {
        if (blocks.get(key) != null) {
            return Outcome.failed(StoreCode.OBJECT_ALREADY_EXISTS, key.text());
        }
        blocks.put(key, value.toArray(ValueLayout.JAVA_BYTE));
        if (blocks.size() > capacity) {
            blocks.remove(blocks.keySet().iterator().next());
            evicted++;
        }
        return Outcome.done();
    }

    @Override
    public synchronized Outcome<Long> evictedObjects() {
        return Outcome.ok(evicted);
    }
}
