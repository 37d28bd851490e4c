package io.cassia.datadist.exchange;

import io.cassia.base.Clock;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheRef;
import io.cassia.status.Outcome;
import java.time.Duration;

/**
 * Pulls and pushes of this side. Guarded by its parts. Codes and phases stand at {@link PullCall}
 * and {@link PushCall}; every call ends within its time.
 */
public final class Transfers {
    private final Clock clock;
    private final PullCall pulls;
    private final PushCall pushes;

    Transfers(Clock clock, PullCall pulls, PushCall pushes) {
        this.clock = clock;
        this.pulls = pulls;
        this.pushes = pushes;
    }

    /** One batch of a peer's cache into one batch of a cache here. */
    public Outcome<TransferReport> pullBatch(
            CacheRef source,
            long dstCacheId,
            int dstBatch,
            TransferOptions options,
            Duration timeout) {
        return pulls.batch(source, dstCacheId, dstBatch, options, Budget.of(clock, timeout));
    }

    /** Blocks, or one batch when {@code srcBlocks} is empty, into blocks of a cache here. */
    public Outcome<TransferReport> pullBlocks(
            CacheRef source,
            long dstCacheId,
            long[] srcBlocks,
            long[] dstBlocks,
            TransferOptions options,
            Duration timeout) {
        return pulls.blocks(
                source, dstCacheId, srcBlocks, dstBlocks, options, Budget.of(clock, timeout));
    }

    /** One batch of a cache here into one batch of a peer's cache. */
    public Outcome<TransferReport> pushBatch(
            long srcCacheId,
            CacheIndex destination,
            int srcBatch,
            TransferOptions options,
            Duration timeout) {
        PushTarget target = PushPlans.toCache(destination, options);
        return pushes.run(
                destination.clusterId(),
                srcCacheId,
                geometry -> PushPlans.batch(geometry, srcBatch, target, options),
                false,
                Budget.of(clock, timeout));
    }

    /** Blocks of a cache here into blocks of a peer's cache. */
    public Outcome<TransferReport> pushBlocks(
            long srcCacheId,
            CacheRef destination,
            long[] srcBlocks,
            long[] dstBlocks,
            TransferOptions options,
            Duration timeout) {
        PushTarget target = PushPlans.toCache(destination, options);
        return pushes.run(
                destination.clusterId(),
                srcCacheId,
                geometry -> PushPlans.blocks(geometry, srcBlocks, dstBlocks, target, options),
                false,
                Budget.of(clock, timeout));
    }

    PushCall pushes() {
        return pushes;
    }

    Clock clock() {
        return clock;
    }
}
