package io.cassia.datadist.cache;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.lang.System.Logger.Level;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The caches of one instance, their keys, and who uses them. Guarded: one lock for all of it;
 * memory is given back outside of the lock.
 *
 * <p>References are counted as the first LLM-DataDist engine does it: an allocated cache is kept by
 * its number until it is deallocated, by each of its keys until that is consumed or removed, and by
 * each transfer that uses it. Numbers begin at 1 and are never used twice.
 */
public final class CacheTable {
    private static final System.Logger LOG = System.getLogger(CacheTable.class.getName());

    private final Clock clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    @GuardedBy("lock")
    private final CacheBook book = new CacheBook(this);

    public CacheTable(Clock clock) {
        this.clock = clock;
    }

    /**
     * {@code LLM_PARAM_INVALID} when the keys do not fit the cache: more than batches, one twice,
     * or one that already names a live cache.
     */
    public Outcome<Done> checkKeys(NewCache cache) {
        if (cache.keys().size() > cache.geometry().batches()) {
            return invalid(
                    "%d keys for a cache of %d batches"
                            .formatted(cache.keys().size(), cache.geometry().batches()));
        }
        Set<KeyName> seen = new HashSet<>();
        for (CacheKey key : cache.keys()) {
            if (key.check() instanceof Outcome.Failed<Done> failed) {
                return failed;
            }
            if (!key.isPlaceholder() && !seen.add(KeyName.of(key))) {
                return invalid(KeyName.of(key) + " stands twice in one call");
            }
        }
        lock.lock();
        try {
            return book.requireUnbound(cache);
        } finally {
            lock.unlock();
        }
    }

    /** Takes a cache in; the failures of {@link #checkKeys}. */
    public Outcome<Cache> add(NewCache cache) {
        if (checkKeys(cache) instanceof Outcome.Failed<Done> failed) {
            return failed.as();
        }
        lock.lock();
        try {
            Outcome<Cache> added = book.add(cache, clock.nanos());
            changed.signalAll();
            return added;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Drops the number of an allocated cache; its memory goes when no key and no transfer holds it
     * any more. {@code LLM_KV_CACHE_NOT_EXIST} for an unknown or deallocated one, {@code
     * LLM_PARAM_INVALID} for a registered one.
     */
    public Outcome<Done> deallocate(long cacheId) {
        List<CacheEntry> freed;
        lock.lock();
        try {
            CacheEntry entry = book.find(cacheId);
            if (entry == null) {
                return missing(cacheId);
            }
            if (entry.origin == CacheOrigin.REGISTERED) {
                return invalid("cache %d is registered memory: unregister it".formatted(cacheId));
            }
            book.dropNumber(entry, entry.blocks);
            freed = book.freed();
        } finally {
            lock.unlock();
        }
        free(freed);
        return Outcome.done();
    }

    /**
     * Takes registered memory away from peers and from calls; on success nobody uses it. An unknown
     * number is fine. {@code LLM_WAIT_PROC_TIMEOUT} when a transfer still uses the memory at the
     * deadline: the cache then stays as it was. {@code LLM_PARAM_INVALID} for an allocated one.
     */
    public Outcome<Done> unregister(long cacheId, long deadlineNanos) {
        return switch (drain(cacheId, deadlineNanos)) {
            case Outcome.Failed<Optional<CacheEntry>> failed -> failed.as();
            case Outcome.Ok<Optional<CacheEntry>>(Optional<CacheEntry> entry) ->
                    entry.isPresent() ? release(entry.get()) : Outcome.done();
        };
    }

    /** Lets no new transfer in and waits for those that run; empty when there is no such cache. */
    private Outcome<Optional<CacheEntry>> drain(long cacheId, long deadlineNanos) {
        lock.lock();
        try {
            CacheEntry entry = book.findAny(cacheId);
            while (entry != null && entry.draining && awaitChange(deadlineNanos)) {
                entry = book.findAny(cacheId);
            }
            if (entry == null) {
                return Outcome.ok(Optional.empty());
            }
            if (entry.origin == CacheOrigin.ALLOCATED) {
                return invalid("cache %d is allocated memory: deallocate it".formatted(cacheId));
            }
            if (entry.draining) {
                return Outcome.failed(
                        LlmStatus.LLM_WAIT_PROC_TIMEOUT,
                        "cache %d is being unregistered by another call".formatted(cacheId));
            }
            entry.draining = true;
            while (entry.pins > 0 && awaitChange(deadlineNanos)) {}
            if (entry.pins > 0) {
                entry.draining = false;
                changed.signalAll();
                return Outcome.failed(
                        LlmStatus.LLM_WAIT_PROC_TIMEOUT,
                        "cache %d is in use by %d transfers; it stays registered: unlink or try again"
                                .formatted(cacheId, entry.pins));
            }
            return Outcome.ok(Optional.of(entry));
        } finally {
            lock.unlock();
        }
    }

    /** Its memory first: a cache whose memory somebody does not let go of stays. */
    private Outcome<Done> release(CacheEntry entry) {
        Outcome<Done> released = entry.onFree.get();
        List<CacheEntry> freed = List.of();
        lock.lock();
        try {
            if (released.isOk()) {
                entry.released = true;
                book.dropNumber(entry, true);
                freed = book.freed();
            } else {
                entry.draining = false;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        free(freed);
        return released instanceof Outcome.Failed<Done> failed
                ? failed.in("cache %d stays registered".formatted(entry.id))
                : released;
    }

    /** Drops a key; an unknown one is fine. */
    public void removeKey(CacheKey key) {
        if (!key.isPlaceholder()) {
            remove(KeyName.of(key));
        }
    }

    /** Drops the key of a block cache; an unknown one is fine. */
    public void removeKey(BlocksCacheKey key) {
        remove(KeyName.of(key));
    }

    private void remove(KeyName name) {
        List<CacheEntry> freed;
        lock.lock();
        try {
            book.removeKey(name);
            freed = book.freed();
        } finally {
            lock.unlock();
        }
        free(freed);
    }

    /** Drops the keys that are older than that and in no transfer; the value is their number. */
    public int expireKeys(long ageNanos) {
        List<CacheEntry> freed;
        int expired;
        lock.lock();
        try {
            expired = book.expireKeys(clock.nanos(), ageNanos);
            freed = book.freed();
        } finally {
            lock.unlock();
        }
        free(freed);
        return expired;
    }

    /** Holds a cache of this instance; {@code LLM_KV_CACHE_NOT_EXIST} for an unknown number. */
    public Outcome<Pin> pin(long cacheId) {
        lock.lock();
        try {
            CacheEntry entry = book.find(cacheId);
            return entry == null ? missing(cacheId) : Outcome.ok(book.pin(entry));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Holds what a peer's reference names. {@code LLM_KV_CACHE_NOT_EXIST} for an unknown number or
     * key, and for a batch that the cache does not have.
     */
    public Outcome<Pin> pin(CacheRef ref) {
        lock.lock();
        try {
            return book.pin(ref);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Like {@link #pin(CacheRef)}, but waits until the deadline for the cache to be there.
     *
     * @param vain whether nobody wants it any more; asked again after {@link #wake}
     */
    public Outcome<Pin> awaitPin(CacheRef ref, long deadlineNanos, BooleanSupplier vain) {
        lock.lock();
        try {
            while (!book.exists(ref) && !vain.getAsBoolean() && awaitChange(deadlineNanos)) {}
            return book.pin(ref);
        } finally {
            lock.unlock();
        }
    }

    /** Lets those who wait find out whether they do so in vain. */
    public void wake() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Whether a cache of that number or key is there. */
    public boolean exists(CacheRef ref) {
        lock.lock();
        try {
            return book.exists(ref);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Holds the cache in whose tensors all ranges lie; {@code LLM_PARAM_INVALID} naming the first
     * one that does not lie in memory of one live cache.
     */
    public Outcome<Pin> pinRanges(List<Long> starts, long lengthBytes) {
        lock.lock();
        try {
            return book.pinRanges(starts, lengthBytes);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Tells that a peer has fetched tensors of a batch through this pin, which consumes its key
     * when they were the last. {@code LLM_KV_CACHE_NOT_EXIST} when the pin was found by a key that
     * somebody else has consumed meanwhile.
     */
    public Outcome<Done> consume(Pin pin, TensorSelection tensors) {
        lock.lock();
        try {
            return book.consume(pin, tensors);
        } finally {
            lock.unlock();
        }
    }

    /** All caches in the order of their numbers. */
    public List<CacheInfo> caches() {
        lock.lock();
        try {
            return book.caches();
        } finally {
            lock.unlock();
        }
    }

    /** Number of caches. */
    public int cacheCount() {
        lock.lock();
        try {
            return book.cacheCount();
        } finally {
            lock.unlock();
        }
    }

    /** Number of bound keys. */
    public int keyCount() {
        lock.lock();
        try {
            return book.keyCount();
        } finally {
            lock.unlock();
        }
    }

    /** All bound keys, oldest first. */
    public List<KeyInfo> keys() {
        lock.lock();
        try {
            return book.keys(clock.nanos());
        } finally {
            lock.unlock();
        }
    }

    /** Forgets everything and gives the memory back; for the end of an instance. */
    public void clear() {
        List<CacheEntry> freed;
        lock.lock();
        try {
            book.clear();
            freed = book.freed();
        } finally {
            lock.unlock();
        }
        free(freed);
    }

    void unpin(Pin pin) {
        List<CacheEntry> freed;
        lock.lock();
        try {
            book.unpin(pin);
            freed = book.freed();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        free(freed);
    }

    private static void free(List<CacheEntry> freed) {
        for (CacheEntry entry : freed) {
            if (!entry.released && entry.onFree.get() instanceof Outcome.Failed<Done> failed) {
                LOG.log(
                        Level.WARNING,
                        "cache-free cache=%d reason=%s".formatted(entry.id, failed.detail()));
            }
        }
    }

    /** Waits for a change; false when the deadline has passed or the thread is interrupted. */
    @SuppressWarnings("WaitNotInLoop") // The callers loop.
    @GuardedBy("lock")
    private boolean awaitChange(long deadlineNanos) {
        long left = deadlineNanos - clock.nanos();
        if (left <= 0) {
            return false;
        }
        try {
            return changed.await(left, TimeUnit.NANOSECONDS) || clock.nanos() < deadlineNanos;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    static <T> Outcome<T> missing(long cacheId) {
        return Outcome.failed(
                LlmStatus.LLM_KV_CACHE_NOT_EXIST,
                "cache %d is unknown: never made, or given back".formatted(cacheId));
    }

    static <T> Outcome<T> invalid(String detail) {
        return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, detail);
    }
}
