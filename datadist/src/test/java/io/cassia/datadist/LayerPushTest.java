package io.cassia.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.DataType;
import io.cassia.datadist.cache.LayerRange;
import io.cassia.datadist.exchange.CacheTask;
import io.cassia.datadist.exchange.LayerBlocks;
import io.cassia.datadist.exchange.LayerPushConfig;
import io.cassia.datadist.exchange.TransferEvent;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Layer-wise pushes (spec 6.6), without the two defects that it lists. */
final class LayerPushTest {
    private static final CacheDesc DESC = CacheDesc.device(6, DataType.INT8, 4, 100);
    private static final LayerRange ALL = LayerRange.ALL;

    private final Clusters clusters = new Clusters();
    private LlmDataDist prompt;
    private LlmDataDist decoder;
    private Cache src;
    private Cache dst;

    @BeforeEach
    void link() {
        prompt = clusters.prompt(1);
        decoder = clusters.decoder(2);
        src = prompt.allocateCache(DESC).orThrow();
        dst = decoder.allocateCache(DESC).orThrow();
        Clusters.fill(src, 1);
        Clusters.link(decoder, prompt);
        assertThat(Clusters.eventually(() -> !prompt.links().isEmpty())).isTrue();
    }

    @AfterEach
    void close() {
        clusters.close();
    }

    @Test
    void layers_go_one_by_one_when_the_model_has_written_them() throws InterruptedException {
        List<CountDownLatch> written =
                List.of(new CountDownLatch(1), new CountDownLatch(1), new CountDownLatch(1));
        CacheTask task =
                prompt.transferCacheAsync(
                                src,
                                layer -> {
                                    written.get(layer).await();
                                    return true;
                                },
                                List.of(to(ALL, ALL, 2)),
                                LayerBlocks.NONE)
                        .orThrow();
        Expect.failed(task.synchronize(Duration.ofMillis(20)), LlmStatus.LLM_TIMEOUT, "goes on");
        for (int layer = 0; layer < 3; layer++) {
            assertBlank(2 * layer);
            written.get(layer).countDown();
            awaitEvents(1);
            assertArrived(2 * layer, 2 * layer);
            assertArrived(2 * layer + 1, 2 * layer + 1);
        }
        Expect.ok(task.synchronize(Clusters.LONG));
        assertThat(task.results(Clusters.LONG).orThrow()).hasSize(1);
    }

    @Test
    void the_destination_layer_counts_from_the_start_of_the_source_range() {
        CacheTask task = start(LayerBlocks.NONE, to(new LayerRange(1, 2), new LayerRange(0, 1), 3));
        Expect.ok(task.synchronize(Clusters.LONG));
        assertArrived(0, 2, 3);
        assertArrived(3, 5, 3);
        assertBlank(4);
    }

    @Test
    void each_configuration_has_a_result_of_its_own_even_for_one_cluster() {
        Cache second = decoder.allocateCache(DESC).orThrow();
        CacheTask task =
                start(
                        LayerBlocks.NONE,
                        to(LayerRange.single(0), LayerRange.single(0), 0),
                        new LayerPushConfig.ToCache(
                                new CacheIndex(2, second.cacheId()),
                                LayerRange.single(1),
                                LayerRange.single(7),
                                0),
                        to(LayerRange.single(2), LayerRange.single(2), 0));
        List<Optional<Outcome<Done>>> results = task.results(Clusters.LONG).orThrow();
        assertThat(results).hasSize(3);
        Expect.ok(results.get(0).orElseThrow());
        Expect.invalid(results.get(1).orElseThrow(), "layer 1 to layer 7", "layers 7..7");
        assertThat(results.get(2)).isEmpty();
        Expect.invalid(task.synchronize(Clusters.LONG));
        assertBlank(4);
    }

    @Test
    void a_synchronizer_that_gives_up_ends_the_task() {
        CacheTask task =
                prompt.transferCacheAsync(
                                src, layer -> layer < 1, List.of(to(ALL, ALL, 0)), LayerBlocks.NONE)
                        .orThrow();
        Expect.invalid(task.synchronize(Clusters.LONG), "layer 1");
        assertArrived(0, 0, 0);
        assertBlank(2);
    }

    @Test
    void a_synchronizer_that_throws_ends_the_task() {
        CacheTask task =
                prompt.transferCacheAsync(
                                src,
                                layer -> {
                                    throw new IllegalStateException("model crashed");
                                },
                                List.of(to(ALL, ALL, 0)),
                                LayerBlocks.NONE)
                        .orThrow();
        Expect.failed(task.synchronize(Clusters.LONG), LlmStatus.LLM_FAILED, "model crashed");
    }

    @Test
    void blocks_go_to_blocks_and_batches_into_blocks() {
        Expect.ok(
                start(LayerBlocks.of(new long[] {0, 1}, new long[] {2, 3}), to(ALL, ALL, 0))
                        .synchronize(Clusters.LONG));
        assertThat(bytes(dst, 5, 200, 200)).isEqualTo(bytes(src, 5, 0, 200));
        Cache small = decoder.allocateCache(CacheDesc.device(6, DataType.INT8, 8, 30)).orThrow();
        CacheTask task =
                start(
                        LayerBlocks.fromBatch(new long[] {7, 0, 1, 3}, 30),
                        new LayerPushConfig.ToCache(
                                new CacheIndex(2, small.cacheId()), ALL, ALL, 1));
        Expect.ok(task.synchronize(Clusters.LONG));
        assertThat(bytes(small, 2, 210, 30)).isEqualTo(bytes(src, 2, 100, 30));
        assertThat(bytes(small, 2, 0, 60)).isEqualTo(bytes(src, 2, 130, 60));
        assertThat(bytes(small, 2, 90, 10)).isEqualTo(bytes(src, 2, 190, 10));
        assertThat(bytes(small, 2, 100, 20)).containsOnly(0);
    }

    @Test
    void layers_go_to_addresses_inside_a_live_cache() {
        List<Long> addresses = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            addresses.add(dst.tensors().get(t).address() + 100);
        }
        CacheTask task =
                start(
                        LayerBlocks.NONE,
                        new LayerPushConfig.ToAddresses(2, addresses, new LayerRange(1, 2), 0));
        Expect.ok(task.synchronize(Clusters.LONG));
        assertArrived(0, 2, 1);
        assertArrived(3, 5, 1);
        addresses.set(3, dst.tensors().get(3).address() + 301);
        CacheTask beyond =
                start(
                        LayerBlocks.NONE,
                        new LayerPushConfig.ToAddresses(2, addresses, new LayerRange(1, 2), 0));
        Expect.invalid(beyond.synchronize(Clusters.LONG), "not inside one live cache");
    }

    @Test
    void a_pull_in_between_does_not_end_a_task() {
        CountDownLatch second = new CountDownLatch(1);
        CacheTask task =
                prompt.transferCacheAsync(
                                src,
                                layer -> {
                                    if (layer == 1) {
                                        second.await();
                                    }
                                    return true;
                                },
                                List.of(to(ALL, ALL, 0)),
                                LayerBlocks.NONE)
                        .orThrow();
        awaitEvents(1);
        Expect.ok(decoder.pullCache(new CacheIndex(1, src.cacheId(), 3), dst));
        second.countDown();
        Expect.ok(task.synchronize(Clusters.LONG));
    }

    @Test
    void arguments_are_checked_at_once() {
        CacheDesc odd = CacheDesc.device(3, DataType.INT8, 4, 100);
        Cache three = prompt.allocateCache(odd).orThrow();
        LayerPushConfig all = to(ALL, ALL, 0);
        Expect.invalid(
                prompt.transferCacheAsync(three, layer -> true, List.of(all), LayerBlocks.NONE),
                "3 tensors");
        Expect.missing(
                prompt.transferCacheAsync(
                        new Cache(99, DESC, List.of()),
                        layer -> true,
                        List.of(all),
                        LayerBlocks.NONE));
        assertRefused("no destination", LayerBlocks.NONE);
        assertRefused("blocks cannot", LayerBlocks.of(new long[] {1}, new long[0]), all);
        assertRefused("how large", LayerBlocks.fromBatch(new long[] {1}, 0), all);
        assertRefused(
                "differ", LayerBlocks.NONE, to(new LayerRange(0, 1), LayerRange.single(0), 0));
        assertRefused(
                "layers 2..3", LayerBlocks.NONE, to(new LayerRange(2, 3), new LayerRange(0, 1), 0));
        assertRefused("without", LayerBlocks.NONE, to(new LayerRange(0, 1), ALL, 0));
        assertRefused(
                "batch 4",
                LayerBlocks.NONE,
                new LayerPushConfig.ToCache(new CacheIndex(2, dst.cacheId()), ALL, ALL, 4));
        assertRefused(
                "1 addresses for 1 layers",
                LayerBlocks.NONE,
                new LayerPushConfig.ToAddresses(2, List.of(1L), LayerRange.single(0), 0));
    }

    private void assertRefused(String words, LayerBlocks blocks, LayerPushConfig... configs) {
        Expect.invalid(
                prompt.transferCacheAsync(src, layer -> true, Arrays.asList(configs), blocks),
                words);
    }

    private CacheTask start(LayerBlocks blocks, LayerPushConfig... configs) {
        return prompt.transferCacheAsync(src, layer -> true, Arrays.asList(configs), blocks)
                .orThrow();
    }

    private LayerPushConfig to(LayerRange srcLayers, LayerRange dstLayers, int dstBatch) {
        return new LayerPushConfig.ToCache(
                new CacheIndex(2, dst.cacheId(), dstBatch), srcLayers, dstLayers, 0);
    }

    private void awaitEvents(int count) {
        List<TransferEvent> seen = new ArrayList<>();
        assertThat(
                        Clusters.eventually(
                                () -> {
                                    seen.addAll(decoder.pollTransferEvents(count));
                                    return seen.size() >= count;
                                }))
                .isTrue();
    }

    private void assertArrived(int dstTensor, int srcTensor) {
        assertArrived(dstTensor, srcTensor, 2);
    }

    private void assertArrived(int dstTensor, int srcTensor, int dstBatch) {
        assertThat(bytes(dst, dstTensor, dstBatch * 100L, 100))
                .isEqualTo(bytes(src, srcTensor, 0, 100));
    }

    private void assertBlank(int tensor) {
        assertThat(bytes(dst, tensor, 0, 400)).containsOnly(0);
    }

    private static byte[] bytes(Cache cache, int tensor, long offset, long size) {
        return cache.tensors().get(tensor).asSlice(offset, size).toArray(ValueLayout.JAVA_BYTE);
    }
}
