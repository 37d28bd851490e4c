package io.cassia.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.cache.BlocksCacheKey;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheKey;
import io.cassia.datadist.cache.CacheRef;
import io.cassia.datadist.cache.DataType;
import io.cassia.datadist.cache.LayerRange;
import io.cassia.datadist.exchange.TransferEvent;
import io.cassia.datadist.exchange.TransferOptions;
import io.cassia.datadist.exchange.TransferReport;
import io.cassia.datadist.link.LlmRole;
import io.cassia.datadist.link.OpKind;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transport;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pulls and pushes over TCP (spec section 6): results, codes, keys. */
final class TransferTest {
    private static final CacheDesc DESC = CacheDesc.device(4, DataType.INT32, 8, 16);
    private static final long STRIDE = 64;
    private static final TransferOptions WHOLE = TransferOptions.DEFAULT;

    private final Clusters clusters = new Clusters();
    private LlmDataDist prompt;
    private LlmDataDist decoder;
    private Cache src;
    private Cache dst;

    @BeforeEach
    void link() {
        prompt =
                clusters.start(
                        1,
                        LlmRole.PROMPT,
                        options ->
                                options.transports(Set.of(Transport.TCP)).listen("127.0.0.1", 0));
        decoder =
                clusters.start(
                        2, LlmRole.DECODER, options -> options.transports(Set.of(Transport.TCP)));
        src = prompt.allocateCache(DESC, List.of(CacheKey.request(1, 7))).orThrow();
        dst = decoder.allocateCache(DESC).orThrow();
        Clusters.fill(src, 1);
        Clusters.link(decoder, prompt);
    }

    @AfterEach
    void close() {
        clusters.close();
    }

    @Test
    void a_pull_by_key_moves_one_batch_and_consumes_the_key() {
        TransferReport report = decoder.pullCache(CacheKey.request(1, 7), dst, 3, WHOLE).orThrow();
        assertThat(report.bytes()).isEqualTo(4 * STRIDE);
        assertThat(report.requests()).isEqualTo(4);
        for (int t = 0; t < 4; t++) {
            assertRange(dst, t, 3 * STRIDE, src, t, 0, STRIDE);
            assertBlank(dst, t, 0, 3 * STRIDE);
            assertBlank(dst, t, 4 * STRIDE, 4 * STRIDE);
        }
        Expect.missing(
                decoder.pullCache(CacheKey.request(1, 7), dst), "request key 7", "pulled already");
        assertThat(prompt.cacheKeys()).isEmpty();
    }

    @Test
    void memory_of_a_deallocated_cache_goes_with_the_pull() {
        Expect.ok(prompt.deallocateCache(src));
        assertThat(prompt.caches()).singleElement().matches(cache -> cache.deallocated());
        Expect.missing(decoder.pullCache(new CacheIndex(1, src.cacheId()), dst));
        Expect.ok(decoder.pullCache(CacheKey.request(1, 7), dst));
        assertThat(prompt.caches()).isEmpty();
        assertThat(prompt.poolStats(DESC.placement()).orElseThrow().usedBytes()).isZero();
    }

    @Test
    void a_pull_by_number_can_be_repeated_and_consumes_a_key_once() {
        CacheIndex index = new CacheIndex(1, src.cacheId(), 0);
        Expect.ok(decoder.pullCache(index, dst));
        assertThat(prompt.cacheKeys()).isEmpty();
        Expect.ok(decoder.pullCache(index, dst));
        Expect.ok(decoder.pullCache(new CacheIndex(1, src.cacheId(), 5), dst, 1, WHOLE));
        assertRange(dst, 2, STRIDE, src, 2, 5 * STRIDE, STRIDE);
    }

    @Test
    void a_prefix_is_shared() {
        Cache shared = prompt.allocateCache(DESC, List.of(CacheKey.prefix(1, 5))).orThrow();
        Clusters.fill(shared, 2);
        for (int i = 0; i < 2; i++) {
            Expect.ok(decoder.pullCache(CacheKey.prefix(1, 5), dst, i, WHOLE));
            assertRange(dst, 0, i * STRIDE, shared, 0, 0, STRIDE);
        }
    }

    @Test
    void layers_map_to_other_layers_and_the_key_goes_with_the_last() {
        CacheKey key = CacheKey.request(1, 7);
        LayerRange zero = LayerRange.single(0);
        LayerRange one = LayerRange.single(1);
        Expect.ok(decoder.pullCache(key, dst, 0, WHOLE.withLayers(one, zero)));
        assertRange(dst, 0, 0, src, 2, 0, STRIDE);
        assertRange(dst, 1, 0, src, 3, 0, STRIDE);
        assertBlank(dst, 2, 0, 8 * STRIDE);
        Expect.ok(decoder.pullCache(key, dst, 0, WHOLE.withLayers(one, one)));
        Expect.ok(decoder.pullCache(key, dst, 0, WHOLE.withLayers(zero, zero)));
        Expect.missing(decoder.pullCache(key, dst, 0, WHOLE.withLayers(zero, zero)));
    }

    @Test
    void offsets_take_a_part_and_leave_the_key() {
        CacheKey key = CacheKey.request(1, 7);
        Expect.ok(decoder.pullCache(key, dst, 0, WHOLE.withOffsets(8, 24).withSize(16)));
        assertRange(dst, 1, 24, src, 1, 8, 16);
        assertBlank(dst, 1, 0, 24);
        assertBlank(dst, 1, 40, 24);
        Expect.ok(decoder.pullCache(key, dst, 0, WHOLE.withOffsets(0, 32)));
        assertRange(dst, 1, 32, src, 1, 0, 32);
        Expect.ok(decoder.pullCache(key, dst));
    }

    @Test
    void blocks_go_pairwise_in_joined_runs() {
        CacheIndex index = new CacheIndex(1, src.cacheId());
        TransferReport report =
                decoder.pullBlocks(index, dst, new long[] {1, 2, 3, 7}, new long[] {4, 5, 6, 0})
                        .orThrow();
        assertThat(report.requests()).isEqualTo(2 * 4);
        assertThat(report.bytes()).isEqualTo(4 * 4 * STRIDE);
        assertRange(dst, 3, 4 * STRIDE, src, 3, STRIDE, 3 * STRIDE);
        assertRange(dst, 3, 0, src, 3, 7 * STRIDE, STRIDE);
        assertBlank(dst, 3, STRIDE, 3 * STRIDE);
        assertThat(prompt.cacheKeys()).hasSize(1);
    }

    @Test
    void block_caches_have_names() {
        BlocksCacheKey key = new BlocksCacheKey(1, 4);
        Cache blocks = prompt.allocateBlocksCache(DESC, key).orThrow();
        Clusters.fill(blocks, 3);
        Expect.ok(decoder.pullBlocks(key, dst, new long[] {7}, new long[] {1}));
        assertRange(dst, 0, STRIDE, blocks, 0, 7 * STRIDE, STRIDE);
        Expect.invalid(decoder.pullCache(key, dst), "block cache");
        Expect.missing(
                decoder.pullBlocks(new BlocksCacheKey(1, 9), dst, new long[] {0}, new long[] {0}),
                "blocks key of model 9");
    }

    @Test
    void a_batch_is_cut_into_blocks_of_the_destination() {
        Cache wide =
                prompt.allocateCache(
                                CacheDesc.device(4, DataType.INT32, 2, 40),
                                List.of(CacheKey.request(1, 9)))
                        .orThrow();
        Clusters.fill(wide, 4);
        Expect.ok(
                decoder.pullBlocks(
                        CacheKey.request(1, 9),
                        dst,
                        new long[0],
                        new long[] {6, 2, 3},
                        WHOLE.withSize(160)));
        assertRange(dst, 1, 6 * STRIDE, wide, 1, 0, STRIDE);
        assertRange(dst, 1, 2 * STRIDE, wide, 1, STRIDE, 96);
        assertBlank(dst, 1, 3 * STRIDE + 32, 32);
        Expect.missing(decoder.pullCache(CacheKey.request(1, 9), dst));
    }

    @Test
    void registered_memory_is_pulled_again_and_again_until_it_is_not() {
        List<MemorySegment> memory = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            memory.add(Arena.ofAuto().allocate(8 * STRIDE, 64));
        }
        Cache mine = prompt.registerCache(DESC, memory).orThrow();
        Clusters.fill(mine, 6);
        CacheIndex index = new CacheIndex(1, mine.cacheId(), 2);
        Expect.ok(decoder.pullCache(index, dst));
        Expect.ok(decoder.pullCache(index, dst, 1, WHOLE));
        assertRange(dst, 0, STRIDE, mine, 0, 2 * STRIDE, STRIDE);
        Expect.ok(prompt.unregisterCache(mine.cacheId()));
        Expect.missing(decoder.pullCache(index, dst), "cache " + mine.cacheId());
        Cache again = prompt.registerCache(DESC, mine.tensorAddrs()).orThrow();
        Expect.ok(decoder.pullCache(new CacheIndex(1, again.cacheId(), 2), dst, 4, WHOLE));
        assertRange(dst, 3, 4 * STRIDE, mine, 3, 2 * STRIDE, STRIDE);
    }

    @Test
    void host_caches_are_pulled_like_others() {
        CacheDesc host = CacheDesc.host(4, DataType.INT32, 8, 16);
        Cache here = decoder.allocateCache(host).orThrow();
        Expect.ok(decoder.pullCache(CacheKey.request(1, 7), here));
        assertRange(here, 3, 0, src, 3, 0, STRIDE);
    }

    @Test
    void what_is_not_there_does_not_exist() {
        CacheIndex index = new CacheIndex(1, src.cacheId());
        Expect.missing(decoder.pullCache(index, new Cache(99, DESC, List.of())), "destination");
        Expect.missing(
                decoder.pullCache(index, Cache.cpu(DESC, List.of())), "destination", "cache -1");
        Expect.missing(decoder.pullCache(new CacheIndex(1, 99), dst), "cache 99", "127.0.0.1");
        Expect.missing(decoder.pullCache(new CacheIndex(1, src.cacheId(), 8), dst), "8 batches");
        Expect.missing(decoder.pullCache(CacheKey.request(1, 8), dst), "request key 8");
        Expect.ok(prompt.removeCacheKey(CacheKey.request(1, 7)));
        Expect.missing(decoder.pullCache(CacheKey.request(1, 7), dst));
        Expect.ok(decoder.pullCache(index, dst));
    }

    @Test
    void local_arguments_are_checked_before_anything_else() {
        CacheIndex nobody = new CacheIndex(77, 1);
        assertInvalidPull(nobody, 8, WHOLE, "destination batch 8");
        assertInvalidPull(nobody, -1, WHOLE, "destination batch -1");
        assertInvalidPull(nobody, 0, WHOLE.withSize(0), "size 0");
        assertInvalidPull(nobody, 0, WHOLE.withSize(65), "size 65");
        assertInvalidPull(nobody, 0, WHOLE.withOffsets(0, 64), "offset");
        assertInvalidPull(nobody, 0, WHOLE.withOffsets(-1, 0), "offsets -1");
        assertInvalidPull(nobody, 0, WHOLE.withOffsets(0, 8).withSize(57), "size 57");
        assertInvalidPull(nobody, 0, WHOLE.withTensorsPerLayer(0), "tensor_num_per_layer 0");
        LayerRange one = LayerRange.single(0);
        assertInvalidPull(nobody, 0, WHOLE.withLayers(new LayerRange(-2, 0), one), "(-2,0)");
        assertInvalidPull(nobody, 0, WHOLE.withLayers(one, new LayerRange(1, 2)), "differ");
        assertInvalidPull(
                nobody, 0, WHOLE.withLayers(LayerRange.ALL, new LayerRange(1, 2)), "layers 1..2");
        Expect.invalid(decoder.pullBlocks(nobody, dst, new long[] {1, 2}, new long[] {1}), "pairs");
        Expect.invalid(decoder.pullBlocks(nobody, dst, new long[0], new long[0]), "no destination");
        Expect.invalid(
                decoder.pullBlocks(nobody, dst, new long[] {1}, new long[] {8}),
                "destination block 8");
        Expect.invalid(
                decoder.pullBlocks(nobody, dst, new long[] {-1}, new long[] {0}),
                "source block -1");
        Expect.failed(decoder.pullCache(nobody, dst), LlmStatus.LLM_NOT_YET_LINK, "cluster 77");
        Expect.invalid(decoder.pullCache(new CacheIndex(2, 1), dst), "this cluster itself");
    }

    private void assertInvalidPull(
            CacheRef source, int batch, TransferOptions options, String words) {
        Expect.invalid(decoder.pullCache(source, dst, batch, options), "pullCache", words);
    }

    @Test
    void remote_arguments_are_checked_by_the_owner_and_the_link_stays() {
        CacheIndex index = new CacheIndex(1, src.cacheId());
        Cache wide = decoder.allocateCache(CacheDesc.device(4, DataType.INT32, 8, 32)).orThrow();
        Cache more = decoder.allocateCache(CacheDesc.device(6, DataType.INT32, 8, 16)).orThrow();
        Expect.invalid(decoder.pullCache(index, wide), "128 bytes", "64 bytes");
        CacheIndex second = new CacheIndex(1, src.cacheId(), 1);
        Expect.ok(decoder.pullCache(second, wide, 0, WHOLE.withSize(64)));
        Expect.invalid(
                decoder.pullCache(index, wide, 0, WHOLE.withOffsets(1, 0).withSize(64)),
                "offset 1");
        Expect.invalid(decoder.pullCache(index, more), "4 tensors", "6");
        LayerRange two = new LayerRange(1, 2);
        Expect.invalid(
                decoder.pullCache(index, more, 0, WHOLE.withLayers(two, two)), "layers 1..2");
        Expect.invalid(
                decoder.pullBlocks(index, dst, new long[] {8}, new long[] {0}), "source block 8");
        Expect.invalid(
                decoder.pullBlocks(index, wide, new long[] {0}, new long[] {0}),
                "blocks of 64 bytes there, of 128 bytes here");
        Expect.invalid(
                decoder.pullBlocks(
                        new CacheIndex(1, src.cacheId(), 1), dst, new long[] {0}, new long[] {0}),
                "batch 1");
        Expect.invalid(
                decoder.pullBlocks(CacheKey.request(1, 7), dst, new long[] {0}, new long[] {0}),
                "request 7");
        Expect.ok(decoder.pullCache(CacheKey.request(1, 7), dst));
        assertThat(decoder.whyBroken(1)).isEmpty();
    }

    @Test
    void one_sided_layer_ranges_select_as_many_tensors() {
        CacheIndex index = new CacheIndex(1, src.cacheId());
        Cache small = decoder.allocateCache(CacheDesc.device(2, DataType.INT32, 8, 16)).orThrow();
        Expect.ok(
                decoder.pullCache(
                        index, small, 0, WHOLE.withLayers(LayerRange.single(1), LayerRange.ALL)));
        assertRange(small, 0, 0, src, 2, 0, STRIDE);
    }

    @Test
    void a_push_writes_one_batch_and_tells_the_receiver() {
        List<TransferEvent> heard = new CopyOnWriteArrayList<>();
        Expect.ok(decoder.addTransferListener(heard::add));
        Expect.ok(prompt.pushCache(src, new CacheIndex(2, dst.cacheId(), 6), 5, WHOLE));
        assertRange(dst, 3, 6 * STRIDE, src, 3, 5 * STRIDE, STRIDE);
        assertBlank(dst, 3, 0, 6 * STRIDE);
        assertThat(Clusters.eventually(() -> heard.size() == 1)).isTrue();
        TransferEvent event = heard.getFirst();
        assertThat(event.kind()).isEqualTo(OpKind.PUSH);
        assertThat(event.peerId()).isEqualTo(1);
        assertThat(event.cacheId()).isEqualTo(dst.cacheId());
        assertThat(event.batchIndex()).isEqualTo(6);
        assertThat(event.bytes()).isEqualTo(4 * STRIDE);
        Expect.ok(event.outcome());
        assertThat(decoder.pollTransferEvents(10)).containsExactly(event);
        assertThat(decoder.pollTransferEvents(10)).isEmpty();
    }

    @Test
    void blocks_and_layers_are_pushed() {
        CacheIndex index = new CacheIndex(2, dst.cacheId());
        Expect.ok(prompt.pushBlocks(src, index, new long[] {1, 2}, new long[] {6, 7}));
        assertRange(dst, 0, 6 * STRIDE, src, 0, STRIDE, 2 * STRIDE);
        Expect.ok(
                prompt.pushCache(
                        src,
                        index,
                        0,
                        WHOLE.withLayers(LayerRange.single(1), LayerRange.single(0))));
        assertRange(dst, 1, 0, src, 3, 0, STRIDE);
        BlocksCacheKey key = new BlocksCacheKey(2, 1);
        Expect.missing(prompt.pushBlocks(src, key, new long[] {0}, new long[] {0}), "model 1");
    }

    @Test
    void pushes_are_checked_here_and_at_the_receiver() {
        CacheIndex index = new CacheIndex(2, dst.cacheId());
        Expect.missing(prompt.pushCache(new Cache(99, DESC, List.of()), index), "source");
        Expect.invalid(prompt.pushCache(src, index, 8, WHOLE), "source batch 8");
        Expect.invalid(prompt.pushCache(src, index, 0, WHOLE.withSize(64)), "size 64");
        Expect.invalid(prompt.pushCache(src, index, 0, WHOLE.withOffsets(1, 1)), "offsets");
        Expect.invalid(
                prompt.pushCache(src, index, 0, WHOLE.withTensorsPerLayer(3)), "layers of 3");
        Expect.invalid(prompt.pushCache(src, new CacheIndex(1, 1)), "this cluster itself");
        Expect.missing(prompt.pushCache(src, new CacheIndex(2, 99)), "receiver", "cache 99");
        Expect.missing(prompt.pushCache(src, new CacheIndex(2, dst.cacheId(), 8)), "8 batches");
        Expect.invalid(
                prompt.pushBlocks(src, index, new long[] {0}, new long[] {8}),
                "destination block 8");
        Expect.invalid(
                prompt.pushBlocks(src, index, new long[] {8}, new long[] {0}), "source block 8");
        LayerRange far = new LayerRange(2, 2);
        Expect.invalid(
                prompt.pushCache(src, index, 0, WHOLE.withLayers(LayerRange.single(0), far)),
                "receiver",
                "layers 2..2");
        Cache narrow = decoder.allocateCache(CacheDesc.device(4, DataType.INT32, 8, 8)).orThrow();
        Expect.invalid(prompt.pushCache(src, new CacheIndex(2, narrow.cacheId())), "do not fit");
        Expect.invalid(
                prompt.pushBlocks(
                        src, new CacheIndex(2, narrow.cacheId()), new long[] {0}, new long[] {0}),
                "blocks of 32 bytes there");
        Cache few = decoder.allocateCache(CacheDesc.device(2, DataType.INT32, 8, 16)).orThrow();
        Expect.invalid(prompt.pushCache(src, new CacheIndex(2, few.cacheId())), "4 tensors", "2");
        Expect.ok(prompt.pushCache(src, index));
        assertBlank(few, 0, 0, 8 * STRIDE);
    }

    @Test
    void the_owner_hears_of_pulls() {
        Expect.ok(decoder.pullCache(CacheKey.request(1, 7), dst));
        List<TransferEvent> events = new ArrayList<>();
        assertThat(
                        Clusters.eventually(
                                () -> {
                                    events.addAll(prompt.pollTransferEvents(10));
                                    return !events.isEmpty();
                                }))
                .isTrue();
        assertThat(events).singleElement().matches(event -> event.consumedKey());
        assertThat(events.getFirst().kind()).isEqualTo(OpKind.PULL);
        assertThat(events.getFirst().bytes()).isEqualTo(4 * STRIDE);
    }

    @Test
    void asynchronous_calls_end_with_the_same_outcomes() {
        Expect.ok(
                decoder.pullCacheAsync(new CacheIndex(1, src.cacheId(), 1), dst, 0, WHOLE).join());
        assertRange(dst, 0, 0, src, 0, STRIDE, STRIDE);
        Expect.ok(
                decoder.pullBlocksAsync(
                                new CacheIndex(1, src.cacheId()),
                                dst,
                                new long[] {3},
                                new long[] {4},
                                WHOLE)
                        .join());
        Expect.ok(prompt.pushCacheAsync(src, new CacheIndex(2, dst.cacheId()), 0, WHOLE).join());
        Outcome<TransferReport> refused =
                prompt.pushBlocksAsync(
                                src, new CacheIndex(2, 99), new long[] {3}, new long[] {4}, WHOLE)
                        .join();
        Expect.missing(refused);
    }

    @Test
    void operations_are_measured_by_peer() {
        Expect.ok(decoder.pullCache(CacheKey.request(1, 7), dst));
        Expect.missing(decoder.pullCache(CacheKey.request(1, 7), dst));
        assertThat(
                        clusters.meters()
                                .get("cassia.datadist.operations")
                                .tags("cluster", "2", "peer", "1", "kind", "pull")
                                .tag("code", "LLM_SUCCESS")
                                .timer()
                                .count())
                .isEqualTo(1);
        assertThat(
                        clusters.meters()
                                .get("cassia.datadist.operations")
                                .tags("cluster", "2", "code", "LLM_KV_CACHE_NOT_EXIST")
                                .timer()
                                .count())
                .isEqualTo(1);
        assertThat(
                        clusters.meters()
                                .get("cassia.datadist.bytes")
                                .tags("cluster", "2", "peer", "1", "kind", "pull")
                                .summary()
                                .totalAmount())
                .isEqualTo(4 * STRIDE);
        assertThat(
                        clusters.meters()
                                .get("cassia.datadist.link.wait")
                                .tags("cluster", "2", "peer", "1")
                                .timer()
                                .count())
                .isEqualTo(2);
        assertThat(
                        clusters.meters()
                                .get("cassia.datadist.links")
                                .tags("cluster", "2", "action", "link", "code", "LLM_SUCCESS")
                                .counter()
                                .count())
                .isEqualTo(1);
        assertThat(
                        clusters.meters()
                                .get("cassia.datadist.pool.used")
                                .tags("cluster", "1", "placement", "device")
                                .gauge()
                                .value())
                .isEqualTo(4 * 512);
        assertThat(
                        clusters.meters()
                                .get("cassia.datadist.link.count")
                                .tags("cluster", "2", "state", "active")
                                .gauge()
                                .value())
                .isEqualTo(1);
    }

    private static void assertRange(
            Cache to, int toTensor, long toOffset, Cache from, int fromTensor, long at, long size) {
        assertThat(bytes(to, toTensor, toOffset, size))
                .isEqualTo(bytes(from, fromTensor, at, size));
    }

    private static void assertBlank(Cache cache, int tensor, long offset, long size) {
        assertThat(bytes(cache, tensor, offset, size)).containsOnly(0);
    }

    private static byte[] bytes(Cache cache, int tensor, long offset, long size) {
        return cache.tensors().get(tensor).asSlice(offset, size).toArray(ValueLayout.JAVA_BYTE);
    }
}
