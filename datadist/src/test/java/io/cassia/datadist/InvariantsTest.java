package io.cassia.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheKey;
import io.cassia.datadist.cache.DataType;
import io.cassia.datadist.cache.LayerRange;
import io.cassia.datadist.cache.Placement;
import io.cassia.datadist.exchange.TransferOptions;
import io.cassia.datadist.exchange.TransferReport;
import io.cassia.datadist.link.ClusterInfo;
import io.cassia.datadist.link.LlmRole;
import io.cassia.datadist.memory.EnginePlane;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transport;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Invariants 1, 2, 3, 4, 6 and 8 of the spec (12.2) through the public API, over TCP. */
final class InvariantsTest {
    private final Clusters clusters = new Clusters();

    @AfterEach
    void close() {
        clusters.close();
    }

    private LlmDataDist cluster(long id) {
        return clusters.start(
                id,
                LlmRole.DECODER,
                options ->
                        options.transports(Set.of(Transport.TCP))
                                .roleGating(false)
                                .listen("127.0.0.1", 0));
    }

    /** 1 to 3: selected bytes arrive, no others change; joined blocks are like single ones. */
    @Test
    void what_was_selected_arrives_and_nothing_else_changes() {
        LlmDataDist owner = cluster(1);
        LlmDataDist reader = cluster(2);
        Clusters.link(reader, owner);
        assertThat(Clusters.eventually(() -> !owner.links().isEmpty())).isTrue();
        Seeded.check(80, random -> round(random, owner, reader));
        assertThat(Clusters.eventually(() -> owner.caches().isEmpty())).isTrue();
        assertThat(owner.poolStats(Placement.DEVICE).orElseThrow().usedBytes()).isZero();
    }

    /** One random transfer against a model made of arrays. */
    private static void round(SplittableRandom random, LlmDataDist owner, LlmDataDist reader) {
        Sizes sizes = Sizes.random(random);
        Cache src =
                owner.allocateCache(sizes.desc(sizes.srcTensors(), sizes.srcBatches())).orThrow();
        Cache dst =
                reader.allocateCache(sizes.desc(sizes.dstTensors(), sizes.dstBatches())).orThrow();
        Clusters.fill(src, random.nextInt());
        Clusters.fill(dst, random.nextInt());
        byte[][] from = contents(src);
        byte[][] expected = contents(dst);
        boolean push = random.nextBoolean();
        Outcome<TransferReport> outcome =
                random.nextBoolean()
                        ? batch(
                                random,
                                sizes,
                                push,
                                new Ends(owner, reader, src, dst),
                                from,
                                expected)
                        : blocks(
                                random,
                                sizes,
                                push,
                                new Ends(owner, reader, src, dst),
                                from,
                                expected);
        Expect.ok(outcome);
        assertThat(contents(dst)).isDeepEqualTo(expected);
        assertThat(contents(src)).isDeepEqualTo(from);
        Expect.ok(owner.deallocateCache(src));
        Expect.ok(reader.deallocateCache(dst));
    }

    private record Ends(LlmDataDist owner, LlmDataDist reader, Cache src, Cache dst) {}

    /** A layer range on either side, as many layers. */
    private record Sizes(
            int perLayer,
            int srcLayers,
            int dstLayers,
            int srcBatches,
            int dstBatches,
            int stride) {
        static Sizes random(SplittableRandom random) {
            return new Sizes(
                    random.nextInt(1, 4),
                    random.nextInt(1, 5),
                    random.nextInt(1, 5),
                    random.nextInt(1, 9),
                    random.nextInt(1, 9),
                    random.nextInt(1, 300));
        }

        int srcTensors() {
            return perLayer * srcLayers;
        }

        int dstTensors() {
            return perLayer * dstLayers;
        }

        CacheDesc desc(int tensors, int batches) {
            return CacheDesc.device(tensors, DataType.INT8, batches, stride);
        }

        TransferOptions options(SplittableRandom random) {
            int count = random.nextInt(1, Math.min(srcLayers, dstLayers) + 1);
            int src = random.nextInt(srcLayers - count + 1);
            int dst = random.nextInt(dstLayers - count + 1);
            return TransferOptions.DEFAULT
                    .withTensorsPerLayer(perLayer)
                    .withLayers(
                            LayerRange.halfOpen(src, src + count),
                            LayerRange.halfOpen(dst, dst + count));
        }
    }

    private static Outcome<TransferReport> batch(
            SplittableRandom random,
            Sizes sizes,
            boolean push,
            Ends ends,
            byte[][] from,
            byte[][] expected) {
        TransferOptions options = sizes.options(random);
        int srcBatch = random.nextInt(sizes.srcBatches());
        int dstBatch = random.nextInt(sizes.dstBatches());
        int size = sizes.stride();
        int srcOffset = 0;
        int dstOffset = 0;
        if (!push) {
            size = random.nextInt(1, sizes.stride() + 1);
            srcOffset = random.nextInt(sizes.stride() - size + 1);
            dstOffset = random.nextInt(sizes.stride() - size + 1);
            options = options.withOffsets(srcOffset, dstOffset).withSize(size);
        }
        copy(
                sizes,
                options,
                from,
                srcBatch * sizes.stride() + srcOffset,
                expected,
                dstBatch * sizes.stride() + dstOffset,
                size);
        return push
                ? ends.owner()
                        .pushCache(
                                ends.src(),
                                new CacheIndex(2, ends.dst().cacheId(), dstBatch),
                                srcBatch,
                                options)
                : ends.reader()
                        .pullCache(
                                new CacheIndex(1, ends.src().cacheId(), srcBatch),
                                ends.dst(),
                                dstBatch,
                                options);
    }

    private static Outcome<TransferReport> blocks(
            SplittableRandom random,
            Sizes sizes,
            boolean push,
            Ends ends,
            byte[][] from,
            byte[][] expected) {
        TransferOptions options = sizes.options(random);
        int count = random.nextInt(1, Math.min(sizes.srcBatches(), sizes.dstBatches()) + 1);
        long[] src = choose(random, count, sizes.srcBatches());
        long[] dst = choose(random, count, sizes.dstBatches());
        for (int i = 0; i < count; i++) {
            copy(
                    sizes,
                    options,
                    from,
                    (int) src[i] * sizes.stride(),
                    expected,
                    (int) dst[i] * sizes.stride(),
                    sizes.stride());
        }
        return push
                ? ends.owner()
                        .pushBlocks(
                                ends.src(),
                                new CacheIndex(2, ends.dst().cacheId()),
                                src,
                                dst,
                                options)
                : ends.reader()
                        .pullBlocks(
                                new CacheIndex(1, ends.src().cacheId()),
                                ends.dst(),
                                src,
                                dst,
                                options);
    }

    private static void copy(
            Sizes sizes,
            TransferOptions options,
            byte[][] from,
            int at,
            byte[][] to,
            int toAt,
            int size) {
        int tensors = options.srcLayers().count() * sizes.perLayer();
        for (int t = 0; t < tensors; t++) {
            int srcTensor = options.srcLayers().first() * sizes.perLayer() + t;
            int dstTensor = options.dstLayers().first() * sizes.perLayer() + t;
            System.arraycopy(from[srcTensor], at, to[dstTensor], toAt, size);
        }
    }

    /** Different blocks; often in runs. */
    private static long[] choose(SplittableRandom random, int count, int of) {
        long[] all = new long[of];
        Arrays.setAll(all, i -> i);
        if (random.nextBoolean()) {
            for (int i = of - 1; i > 0; i--) {
                int j = random.nextInt(i + 1);
                long swap = all[i];
                all[i] = all[j];
                all[j] = swap;
            }
        }
        return Arrays.copyOf(all, count);
    }

    private static byte[][] contents(Cache cache) {
        return cache.tensors().stream()
                .map(tensor -> tensor.toArray(ValueLayout.JAVA_BYTE))
                .toArray(byte[][]::new);
    }

    /** 6 and 8: whatever fails, calls end in time, and unlinking and linking restores service. */
    @Test
    void after_any_failure_the_instance_answers_and_a_new_link_works() {
        AtomicReference<FaultyPlane> plane = new AtomicReference<>();
        LlmDataDist owner = cluster(1);
        LlmDataDist reader =
                clusters.start(
                        2,
                        LlmRole.DECODER,
                        (config, clock, meters) ->
                                EnginePlane.start(config, clock, meters)
                                        .map(
                                                real -> {
                                                    plane.set(new FaultyPlane(real));
                                                    return plane.get();
                                                }),
                        options -> options.roleGating(false));
        CacheDesc desc = CacheDesc.device(2, DataType.INT8, 4, 100);
        Cache src = owner.allocateCache(desc).orThrow();
        Cache dst = reader.allocateCache(desc).orThrow();
        Clusters.fill(src, 3);
        Clusters.link(reader, owner);
        Seeded.check(
                25,
                random -> {
                    fail(random, plane.get(), reader, src, dst);
                    plane.get().set(FaultyPlane.Mode.NORMAL);
                    Expect.ok(
                            reader.unlinkClusters(List.of(ClusterInfo.of(1)), Clusters.LONG, true)
                                    .overall());
                    Clusters.link(reader, owner);
                    Expect.ok(reader.pullCache(new CacheIndex(1, src.cacheId(), 1), dst));
                    assertThat(
                                    dst.tensors()
                                            .get(1)
                                            .asSlice(0, 100)
                                            .mismatch(src.tensors().get(1).asSlice(100, 100)))
                            .isEqualTo(-1);
                });
    }

    private static void fail(
            SplittableRandom random, FaultyPlane plane, LlmDataDist reader, Cache src, Cache dst) {
        List<FaultyPlane.Mode> modes =
                List.of(
                        FaultyPlane.Mode.STUCK,
                        FaultyPlane.Mode.FAILING,
                        FaultyPlane.Mode.LATE,
                        FaultyPlane.Mode.NORMAL);
        plane.set(modes.get(random.nextInt(modes.size())));
        Duration timeout = Duration.ofMillis(random.nextInt(1, 60));
        TransferOptions options = TransferOptions.DEFAULT.withTimeout(timeout);
        long start = Clock.system().nanos();
        List<Outcome<?>> outcomes = new ArrayList<>();
        outcomes.add(reader.pullCache(new CacheIndex(1, src.cacheId()), dst, 0, options));
        outcomes.add(reader.pullCache(CacheKey.request(1, 99), dst, 0, options));
        outcomes.add(
                reader.pullBlocks(
                        new CacheIndex(1, src.cacheId()),
                        dst,
                        new long[] {random.nextInt(8)},
                        new long[] {0},
                        options));
        outcomes.add(
                reader.pushCache(
                        dst, new CacheIndex(1, 1_000_000 + random.nextInt(5)), 0, options));
        long took = Clock.system().nanos() - start;
        assertThat(took).isLessThan(4 * timeout.plusMillis(600).toNanos());
        assertThat(outcomes).anyMatch(outcome -> !outcome.isOk());
    }
}
