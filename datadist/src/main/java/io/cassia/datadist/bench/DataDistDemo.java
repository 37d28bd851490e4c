package io.cassia.datadist.bench;

import io.cassia.base.Clock;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheKey;
import io.cassia.datadist.cache.LayerRange;
import io.cassia.datadist.exchange.CacheTask;
import io.cassia.datadist.exchange.LayerBlocks;
import io.cassia.datadist.exchange.LayerPushConfig;
import io.cassia.datadist.exchange.TransferOptions;
import io.cassia.datadist.exchange.TransferReport;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Hands the KV cache of a request from prefill to decode in the ways that LLM-DataDist has: by key,
 * by blocks, and layer by layer while it is computed. Confined to the calling thread; both clusters
 * are in this process.
 */
public final class DataDistDemo {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int SEED = 7;

    private final KvGeometry geometry;
    private final int tokens;
    private final Clock clock;
    private final List<DemoRow> rows = new ArrayList<>();

    private DataDistDemo(KvGeometry geometry, int tokens, Clock clock) {
        this.geometry = geometry;
        this.tokens = tokens;
        this.clock = clock;
    }

    /**
     * Runs all steps; the codes of the steps when one fails.
     *
     * @param tokens length of the request, rounded up to whole blocks
     * @param sockets whether bytes go through sockets, or by memory copies as between instances of
     *     one process they may
     */
    public static Outcome<List<DemoRow>> run(
            KvGeometry geometry, int tokens, boolean sockets, Clock clock, MeterRegistry meters) {
        int blocks = (tokens + geometry.blockTokens() - 1) / geometry.blockTokens();
        int whole = blocks * geometry.blockTokens();
        DataDistDemo demo = new DataDistDemo(geometry, whole, clock);
        long pool = 2 * geometry.tokenBytes() * whole + (1L << 20);
        return Pair.open(pool, sockets, clock, meters)
                .then(
                        pair -> {
                            try (pair) {
                                return demo.byKey(pair)
                                        .then(ok -> demo.byBlocks(pair, blocks))
                                        .then(ok -> demo.byLayers(pair))
                                        .map(ok -> List.copyOf(demo.rows));
                            }
                        });
    }

    private Outcome<Done> byKey(Pair pair) {
        CacheKey key = CacheKey.request(Pair.PROMPT, 1);
        return both(
                pair,
                () -> pair.prompt().allocateCache(geometry.batches(1, tokens), List.of(key)),
                () -> pair.decoder().allocateCache(geometry.batches(1, tokens)),
                (src, dst) -> {
                    long start = clock.nanos();
                    return pair.decoder()
                            .pullCache(key, dst, 0, TransferOptions.DEFAULT)
                            .map(
                                    report ->
                                            row(
                                                    "pull by key",
                                                    report,
                                                    clock.nanos() - start,
                                                    Patterns.same(
                                                            src,
                                                            0,
                                                            dst,
                                                            0,
                                                            src.tensors().getFirst().byteSize())));
                });
    }

    /** Blocks of the source lie anywhere, as a paged cache in use has them. */
    private Outcome<Done> byBlocks(Pair pair, int blocks) {
        List<Long> order = new ArrayList<>();
        for (long i = 0; i < blocks; i++) {
            order.add(i);
        }
        Collections.shuffle(order, new Random(SEED));
        long[] src = order.stream().mapToLong(Long::longValue).toArray();
        long[] dst = new long[blocks];
        for (int i = 0; i < blocks; i++) {
            dst[i] = i;
        }
        return both(
                pair,
                () -> pair.prompt().allocateBlocksCache(geometry.blocks(blocks)),
                () -> pair.decoder().allocateBlocksCache(geometry.blocks(blocks)),
                (from, to) -> {
                    long start = clock.nanos();
                    return pair.decoder()
                            .pullBlocks(new CacheIndex(Pair.PROMPT, from.cacheId()), to, src, dst)
                            .map(
                                    report ->
                                            row(
                                                    "pull of scattered blocks",
                                                    report,
                                                    clock.nanos() - start,
                                                    sameBlocks(from, src, to, dst)));
                });
    }

    private static boolean sameBlocks(Cache from, long[] src, Cache to, long[] dst) {
        long bytes = from.desc().geometry().orThrow().strideBytes();
        for (int i = 0; i < src.length; i++) {
            if (!Patterns.same(from, src[i] * bytes, to, dst[i] * bytes, bytes)) {
                return false;
            }
        }
        return true;
    }

    private Outcome<Done> byLayers(Pair pair) {
        return both(
                pair,
                () -> pair.prompt().allocateCache(geometry.batches(1, tokens)),
                () -> pair.decoder().allocateCache(geometry.batches(1, tokens)),
                (src, dst) -> {
                    long start = clock.nanos();
                    return pair.prompt()
                            .transferCacheAsync(
                                    src,
                                    layer -> true,
                                    List.of(
                                            new LayerPushConfig.ToCache(
                                                    new CacheIndex(Pair.DECODER, dst.cacheId()),
                                                    LayerRange.ALL,
                                                    LayerRange.ALL,
                                                    0)),
                                    LayerBlocks.NONE)
                            .then((CacheTask task) -> task.synchronize(LIMIT))
                            .map(
                                    ok -> {
                                        long nanos = clock.nanos() - start;
                                        long size = src.tensors().getFirst().byteSize();
                                        long bytes = size * src.tensors().size();
                                        return row(
                                                "push layer by layer",
                                                new TransferReport(
                                                        bytes, src.tensors().size(), 0, 0, nanos),
                                                nanos,
                                                Patterns.same(src, 0, dst, 0, size));
                                    });
                });
    }

    private Done row(String step, TransferReport report, long nanos, boolean verified) {
        rows.add(new DemoRow(step, tokens, report.bytes(), report.requests(), nanos, verified));
        return Done.DONE;
    }

    private interface Maker {
        Outcome<Cache> make();
    }

    private interface Step {
        Outcome<Done> run(Cache src, Cache dst);
    }

    /** Makes both caches, fills the source, runs the step, and gives both back. */
    private static Outcome<Done> both(Pair pair, Maker makeSrc, Maker makeDst, Step step) {
        return makeSrc.make()
                .then(
                        src ->
                                makeDst.make()
                                        .then(
                                                dst -> {
                                                    Patterns.fill(src, SEED);
                                                    Patterns.clear(dst);
                                                    Outcome<Done> outcome = step.run(src, dst);
                                                    return pair.prompt()
                                                            .deallocateCache(src)
                                                            .then(
                                                                    ok ->
                                                                            pair.decoder()
                                                                                    .deallocateCache(
                                                                                            dst))
                                                            .then(ok -> outcome);
                                                }));
    }
}
