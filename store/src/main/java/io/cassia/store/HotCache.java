package io.cassia.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Copies of objects that this process read from other hosts more than once (spec mooncake-store
 * 6.10). Guarded.
 *
 * <p>Never stale: a read asks the master first, as always, and a copy serves only the version that
 * the master names. What was replaced or removed is not served, whoever did it, and goes when room
 * is needed. What goes in is proved once more, in the cache's own memory.
 */
final class HotCache {
    /** Keys seen once that are remembered. */
    private static final int REMEMBERED = 4096;

    private final long limitBytes;
    private final long largestBytes;
    private final Peers peers;
    private final Counter hits;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final LinkedHashMap<ByteString, Copy> copies = new LinkedHashMap<>(16, 0.75f, true);

    @GuardedBy("lock")
    private final LinkedHashMap<ByteString, Long> seenOnce = new LinkedHashMap<>();

    @GuardedBy("lock")
    private long usedBytes;

    /** Memory of its own: who still copies from it keeps it alive when it leaves the cache. */
    private record Copy(long version, MemorySegment bytes) {}

    HotCache(StoreClientConfig.Memory memory, Peers peers, MeterRegistry meters) {
        this.limitBytes = memory.hotCacheBytes();
        this.largestBytes = Math.min(memory.hotBlockBytes(), limitBytes);
        this.peers = peers;
        this.hits =
                Counter.builder("cassia_store_hot_cache_hits")
                        .description("Reads served from the local copy of a remote object")
                        .register(meters);
    }

    /** Fills the item from a copy of its version, if there is one. */
    boolean serve(ReadItem item) {
        if (limitBytes == 0 || !item.isWhole()) {
            return false;
        }
        Copy copy;
        lock.lock();
        try {
            copy = copies.get(item.key);
        } finally {
            lock.unlock();
        }
        if (copy == null || copy.version != item.found.version()) {
            return false;
        }
        item.fill(copy.bytes);
        hits.increment();
        return true;
    }

    /** Keeps what was read and proved, if it came from afar and for the second time. */
    void offer(ReadItem item, ReplicaDescriptor replica) {
        if (limitBytes == 0
                || !item.isWhole()
                || !item.found.isChecked()
                || item.wantedBytes > largestBytes
                || !peers.isFar(ReadItem.buffer(replica).transportEndpoint())) {
            return;
        }
        lock.lock();
        try {
            Long before = seenOnce.remove(item.key);
            if (before == null || before != item.found.version()) {
                seenOnce.put(item.key, item.found.version());
                trim(seenOnce);
                return;
            }
        } finally {
            lock.unlock();
        }
        MemorySegment bytes = Arena.ofAuto().allocate(item.wantedBytes, 64);
        item.drain(bytes);
        if (Checksums.firstWrong(item.found.sums(), 0, List.of(bytes)) >= 0) {
            // It was right when it came; the caller lets others write to the same memory.
            return;
        }
        lock.lock();
        try {
            Copy old = copies.put(item.key, new Copy(item.found.version(), bytes));
            usedBytes += bytes.byteSize() - (old == null ? 0 : old.bytes.byteSize());
            Iterator<Copy> oldest = copies.values().iterator();
            while (usedBytes > limitBytes && oldest.hasNext()) {
                usedBytes -= oldest.next().bytes.byteSize();
                oldest.remove();
            }
        } finally {
            lock.unlock();
        }
    }

    private static void trim(Map<ByteString, Long> seen) {
        Iterator<ByteString> oldest = seen.keySet().iterator();
        while (seen.size() > REMEMBERED) {
            oldest.next();
            oldest.remove();
        }
    }
}
