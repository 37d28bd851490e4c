package io.cassia.lab.codes;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.DataDistOptions;
import io.cassia.datadist.LlmDataDist;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheKey;
import io.cassia.datadist.cache.DataType;
import io.cassia.datadist.cache.LayerRange;
import io.cassia.datadist.exchange.LayerBlocks;
import io.cassia.datadist.exchange.LayerPushConfig;
import io.cassia.datadist.exchange.TransferOptions;
import io.cassia.datadist.link.ClusterInfo;
import io.cassia.datadist.link.LinkResult;
import io.cassia.datadist.link.LlmRole;
import io.cassia.datadist.memory.PoolConfig;
import io.cassia.lab.coverage.Coverage;
import io.cassia.lab.coverage.Covers;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.testkit.CrowdedPort;
import io.cassia.transfer.transport.Transport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The codes of LLM-DataDist that need no process of their own; the others: {@code lab.datadist}.
 */
class LlmCodesTest {
    private static final Duration SHORT = Duration.ofMillis(500);
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final CacheDesc SMALL = CacheDesc.device(2, DataType.INT8, 4, 1024);
    private static final long MIB = 1L << 20;
    private static final CacheDesc PAGED = CacheDesc.device(1, DataType.INT8, 16, MIB);

    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closeable : open.reversed()) {
            closeable.close();
        }
    }

    private LlmDataDist start(
            long id, LlmRole role, UnaryOperator<DataDistOptions.Builder> options) {
        LlmDataDist cluster = new LlmDataDist(id, role);
        open.add(cluster);
        DataDistOptions.Builder builder =
                DataDistOptions.builder()
                        .dataHost("127.0.0.1")
                        .syncTimeout(LONG)
                        .devicePool(PoolConfig.ofBytes(20 * MIB).orThrow())
                        .hostPool(PoolConfig.ofBytes(MIB).orThrow());
        cluster.initialize(options.apply(builder).build()).orThrow();
        return cluster;
    }

    private LlmDataDist prompt(long id) {
        return start(id, LlmRole.PROMPT, options -> options.listen("127.0.0.1", 0));
    }

    private LlmDataDist decoder(long id) {
        return start(id, LlmRole.DECODER, options -> options);
    }

    private static ClusterInfo at(LlmDataDist prompt) {
        int port = prompt.listenAddress().orElseThrow().port();
        return ClusterInfo.of(prompt.clusterId(), "127.0.0.1", port);
    }

    private static void link(LlmDataDist decoder, LlmDataDist prompt) {
        decoder.linkClusters(List.of(at(prompt)), LONG).overall().orThrow();
    }

    private static Outcome<Done> unlink(LlmDataDist cluster, long peer) {
        return cluster.unlinkClusters(List.of(ClusterInfo.of(peer)), LONG, false).overall();
    }

    @Test
    @Covers(
            llm = {LlmStatus.LLM_FAILED, LlmStatus.LLM_SUCCESS},
            scenario = "A cluster pulls before it is initialised; initialising it twice is fine.")
    void calls_before_initialize_fail(Coverage coverage) {
        LlmDataDist cluster = new LlmDataDist(2, LlmRole.DECODER);
        open.add(cluster);
        Cache nowhere = new Cache(1, SMALL, List.of());
        coverage.expect(cluster.pullCache(new CacheIndex(1, 1), nowhere), LlmStatus.LLM_FAILED);
        coverage.expect(
                cluster.linkClusters(List.of(ClusterInfo.of(1, "127.0.0.1", 1))).overall(),
                LlmStatus.LLM_FAILED);
        coverage.expect(cluster.initialize(Map.of("llm.DeviceId", "0")), LlmStatus.LLM_SUCCESS);
        coverage.expect(cluster.initialize(Map.of("llm.DeviceId", "0")), LlmStatus.LLM_SUCCESS);
        cluster.close();
        coverage.expect(cluster.allocateCache(SMALL), LlmStatus.LLM_FAILED);
    }

    @Test
    @Covers(
            llm = LlmStatus.LLM_PARAM_INVALID,
            scenario = "A cluster is initialised with a missing or malformed option.")
    void bad_options_are_named(Coverage coverage) {
        List<Map<String, String>> bad =
                List.of(
                        Map.of("llm.SyncKvCacheWaitTime", "1000"),
                        Map.of("llm.DeviceId", "a"),
                        Map.of("llm.DeviceId", "-1"),
                        Map.of("llm.DeviceId", "0", "llm.ListenIpInfo", "127.0.0.1"),
                        Map.of("llm.DeviceId", "0", "llm.ListenIpInfo", "256.0.0.1:26000"),
                        Map.of("llm.DeviceId", "0", "llm.BufPoolCfg", "{}"));
        for (Map<String, String> options : bad) {
            try (LlmDataDist cluster = new LlmDataDist(1, LlmRole.DECODER)) {
                coverage.expect(cluster.initialize(options), LlmStatus.LLM_PARAM_INVALID);
            }
        }
        try (LlmDataDist prompt = new LlmDataDist(1, LlmRole.PROMPT)) {
            coverage.expect(
                    prompt.initialize(Map.of("llm.DeviceId", "0")), LlmStatus.LLM_PARAM_INVALID);
        }
    }

    @Test
    @Covers(
            llm = {LlmStatus.LLM_FEATURE_NOT_ENABLED, LlmStatus.LLM_PARAM_INVALID},
            scenario =
                    "A role is set without llm.EnableSwitchRole, or a prompt without an address.")
    void roles_switch_only_where_that_is_enabled(Coverage coverage) throws IOException {
        coverage.expect(
                decoder(2).setRole(LlmRole.MIX, Map.of()), LlmStatus.LLM_FEATURE_NOT_ENABLED);
        LlmDataDist able = start(3, LlmRole.DECODER, options -> options.switchRole(true));
        coverage.expect(able.setRole(LlmRole.PROMPT), LlmStatus.LLM_PARAM_INVALID);
        able.setRole(LlmRole.PROMPT, Map.of("llm.ListenIpInfo", "127.0.0.1:" + freePort()))
                .orThrow();
        able.setRole(LlmRole.DECODER).orThrow();
    }

    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    @Test
    @Covers(
            llm = {LlmStatus.LLM_EXIST_LINK, LlmStatus.LLM_SUCCESS},
            scenario = "A linked cluster sets its role, and again after unlinking.")
    void a_linked_cluster_keeps_its_role(Coverage coverage) {
        LlmDataDist decoder = start(2, LlmRole.DECODER, options -> options.switchRole(true));
        link(decoder, prompt(1));
        coverage.expect(decoder.setRole(LlmRole.MIX), LlmStatus.LLM_EXIST_LINK);
        coverage.expect(unlink(decoder, 1), LlmStatus.LLM_SUCCESS);
        coverage.expect(decoder.setRole(LlmRole.MIX), LlmStatus.LLM_SUCCESS);
    }

    @Test
    @Covers(
            llm = LlmStatus.LLM_CLUSTER_NUM_EXCEED_LIMIT,
            scenario = "Seventeen clusters are linked in one call.")
    void seventeen_clusters_are_too_many(Coverage coverage) {
        List<ClusterInfo> many = new ArrayList<>();
        for (int i = 1; i <= 17; i++) {
            many.add(ClusterInfo.of(100 + i, "127.0.0.1", 20_000 + i));
        }
        LlmDataDist decoder = decoder(2);
        LinkResult linked = decoder.linkClusters(many, SHORT);
        coverage.expect(linked.overall(), LlmStatus.LLM_CLUSTER_NUM_EXCEED_LIMIT);
        assertThat(linked.entries()).isEmpty();
        coverage.expect(
                decoder.unlinkClusters(many, SHORT, false).overall(),
                LlmStatus.LLM_CLUSTER_NUM_EXCEED_LIMIT);
    }

    @Test
    @Covers(
            llm = LlmStatus.LLM_LINK_FAILED,
            scenario =
                    "Two clusters are linked in one call, and nobody listens where one should be.")
    void a_closed_port_fails_its_own_entry_only(Coverage coverage) throws IOException {
        LlmDataDist decoder = decoder(2);
        LlmDataDist good = prompt(1);
        LinkResult linked =
                decoder.linkClusters(
                        List.of(at(good), ClusterInfo.of(7, "127.0.0.1", freePort())), LONG);
        coverage.expect(linked.overall(), LlmStatus.LLM_LINK_FAILED);
        linked.entries().get(0).orThrow();
        coverage.expect(linked.entries().get(1), LlmStatus.LLM_LINK_FAILED);
        decoder.checkLinkStatus(1).orThrow();
    }

    @Test
    @Covers(
            llm = LlmStatus.LLM_WAIT_PROC_TIMEOUT,
            scenario = "A cluster is linked to a port that accepts and never says anything.")
    void a_hung_port_is_waited_for_in_time(Coverage coverage) throws IOException {
        try (ServerSocket hung = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            ClusterInfo info = ClusterInfo.of(1, "127.0.0.1", hung.getLocalPort());
            LinkResult linked = decoder(2).linkClusters(List.of(info), SHORT);
            coverage.expect(linked.entries().getFirst(), LlmStatus.LLM_WAIT_PROC_TIMEOUT);
            coverage.expect(linked.overall(), LlmStatus.LLM_WAIT_PROC_TIMEOUT);
        }
    }

    @Test
    @Covers(
            llm = LlmStatus.LLM_PROCESSING_LINK,
            scenario = "One thread links a hung peer while another one links with less patience.")
    void another_link_call_is_waited_for_in_time(Coverage coverage) throws Exception {
        try (ServerSocket hung = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            LlmDataDist decoder = decoder(2);
            ClusterInfo info = ClusterInfo.of(1, "127.0.0.1", hung.getLocalPort());
            CompletableFuture<LinkResult> slow =
                    decoder.linkClustersAsync(List.of(info), Duration.ofSeconds(3));
            // It has the lock once it has connected.
            try (Socket _ = hung.accept()) {
                LinkResult hasty =
                        decoder.linkClusters(
                                List.of(ClusterInfo.of(9, "127.0.0.1", 9)), Duration.ofMillis(100));
                coverage.expect(hasty.overall(), LlmStatus.LLM_PROCESSING_LINK);
                assertThat(hasty.entries()).isEmpty();
            }
            assertThat(slow.get().overall().isOk()).isFalse();
        }
    }

    @Test
    @Covers(
            llm = {LlmStatus.LLM_ALREADY_LINK, LlmStatus.LLM_PARAM_INVALID},
            scenario = "A cluster is linked a second time, or stands twice in one call.")
    void a_cluster_is_linked_once(Coverage coverage) {
        LlmDataDist decoder = decoder(2);
        LlmDataDist prompt = prompt(1);
        link(decoder, prompt);
        coverage.expect(
                decoder.linkClusters(List.of(at(prompt)), LONG).overall(),
                LlmStatus.LLM_ALREADY_LINK);
        LlmDataDist other = prompt(3);
        LinkResult twice = decoder.linkClusters(List.of(at(other), at(other)), LONG);
        twice.entries().get(0).orThrow();
        coverage.expect(twice.entries().get(1), LlmStatus.LLM_PARAM_INVALID);
    }

    @Test
    @Covers(
            llm = LlmStatus.LLM_NOT_YET_LINK,
            scenario = "A pull without a link, and one after the peer has unlinked.")
    void without_a_link_nothing_moves(Coverage coverage) {
        LlmDataDist decoder = decoder(2);
        LlmDataDist prompt = prompt(1);
        Cache src = prompt.allocateCache(SMALL).orThrow();
        Cache dst = decoder.allocateCache(SMALL).orThrow();
        CacheIndex source = new CacheIndex(1, src.cacheId());
        coverage.expect(decoder.pullCache(source, dst), LlmStatus.LLM_NOT_YET_LINK);
        coverage.expect(decoder.checkLinkStatus(1), LlmStatus.LLM_NOT_YET_LINK);
        link(decoder, prompt);
        decoder.pullCache(source, dst).orThrow();
        unlink(prompt, 2).orThrow();
        coverage.expect(decoder.pullCache(source, dst), LlmStatus.LLM_NOT_YET_LINK);
        coverage.expect(unlinkEntry(decoder, 1), LlmStatus.LLM_NOT_YET_LINK);
    }

    private static Outcome<Done> unlinkEntry(LlmDataDist cluster, long peer) {
        return cluster.unlinkClusters(List.of(ClusterInfo.of(peer)), LONG, false)
                .entries()
                .getFirst();
    }

    @Test
    @Covers(
            llm = LlmStatus.LLM_KV_CACHE_NOT_EXIST,
            scenario =
                    "A cache, key or batch is pulled that its owner does not have, or has no more.")
    void what_is_not_there_cannot_be_pulled(Coverage coverage) {
        LlmDataDist decoder = decoder(2);
        LlmDataDist prompt = prompt(1);
        link(decoder, prompt);
        Cache dst = decoder.allocateCache(SMALL).orThrow();
        CacheKey key = CacheKey.request(1, 77);
        coverage.expect(
                decoder.pullCache(new CacheIndex(1, 99), dst), LlmStatus.LLM_KV_CACHE_NOT_EXIST);
        coverage.expect(decoder.pullCache(key, dst), LlmStatus.LLM_KV_CACHE_NOT_EXIST);
        Cache src = prompt.allocateCache(SMALL, List.of(key)).orThrow();
        decoder.pullCache(key, dst).orThrow();
        coverage.expect(decoder.pullCache(key, dst), LlmStatus.LLM_KV_CACHE_NOT_EXIST);
        coverage.expect(
                decoder.pullCache(new CacheIndex(1, src.cacheId(), 4), dst),
                LlmStatus.LLM_KV_CACHE_NOT_EXIST);
        prompt.deallocateCache(src).orThrow();
        coverage.expect(
                decoder.pullCache(new CacheIndex(1, src.cacheId()), dst),
                LlmStatus.LLM_KV_CACHE_NOT_EXIST);
        coverage.expect(prompt.deallocateCache(src), LlmStatus.LLM_KV_CACHE_NOT_EXIST);
    }

    @Test
    @Covers(
            llm = LlmStatus.LLM_PARAM_INVALID,
            scenario = "A pull names sizes, layers or blocks that do not fit.")
    void what_does_not_fit_is_refused(Coverage coverage) {
        LlmDataDist decoder = decoder(2);
        LlmDataDist prompt = prompt(1);
        link(decoder, prompt);
        CacheIndex src = new CacheIndex(1, prompt.allocateCache(SMALL).orThrow().cacheId());
        Cache dst = decoder.allocateCache(SMALL).orThrow();
        TransferOptions all = TransferOptions.DEFAULT;
        coverage.expect(
                decoder.pullCache(src, dst, 0, all.withSize(1025)), LlmStatus.LLM_PARAM_INVALID);
        coverage.expect(decoder.pullCache(src, dst, 4, all), LlmStatus.LLM_PARAM_INVALID);
        coverage.expect(
                decoder.pullCache(
                        src, dst, 0, all.withLayers(new LayerRange(0, 1), new LayerRange(0, 1))),
                LlmStatus.LLM_PARAM_INVALID);
        coverage.expect(
                decoder.pullBlocks(src, dst, new long[] {0, 1}, new long[] {0}),
                LlmStatus.LLM_PARAM_INVALID);
        coverage.expect(
                decoder.pullBlocks(src, dst, new long[] {4}, new long[] {0}),
                LlmStatus.LLM_PARAM_INVALID);
        coverage.expect(prompt.pullCache(src, dst), LlmStatus.LLM_PARAM_INVALID);
    }

    @Test
    @Covers(
            llm = LlmStatus.LLM_TIMEOUT,
            scenario = "A cluster is linked at an address that swallows what is sent to it.")
    void an_address_that_swallows_packets_times_out(Coverage coverage) throws IOException {
        try (CrowdedPort full = CrowdedPort.open()) {
            ClusterInfo info = ClusterInfo.of(1, "127.0.0.1", full.port());
            LinkResult linked = decoder(2).linkClusters(List.of(info), SHORT);
            coverage.expect(linked.entries().getFirst(), LlmStatus.LLM_TIMEOUT);
        }
    }

    /** The same blocks again and again, over TCP: as long a transfer as one likes. */
    private record LongPull(LlmDataDist decoder, LlmDataDist prompt, Cache src, Cache dst) {
        Outcome<?> run(int mebibytes, Duration timeout) {
            long[] blocks = new long[mebibytes];
            // Descending, so that no two of them are one range.
            Arrays.setAll(blocks, i -> 15 - i % 16);
            return decoder.pullBlocks(
                    new CacheIndex(1, src.cacheId()),
                    dst,
                    blocks,
                    blocks,
                    TransferOptions.DEFAULT.withTimeout(timeout));
        }
    }

    private LongPull longPull() {
        LlmDataDist prompt =
                start(
                        1,
                        LlmRole.PROMPT,
                        options ->
                                options.listen("127.0.0.1", 0)
                                        .roleGating(false)
                                        .transports(Set.of(Transport.TCP)));
        LlmDataDist decoder =
                start(
                        2,
                        LlmRole.DECODER,
                        options -> options.roleGating(false).transports(Set.of(Transport.TCP)));
        link(decoder, prompt);
        return new LongPull(
                decoder,
                prompt,
                prompt.allocateCache(PAGED).orThrow(),
                decoder.allocateCache(PAGED).orThrow());
    }

    @Test
    @Covers(
            llm = {LlmStatus.LLM_TIMEOUT, LlmStatus.LLM_NOT_YET_LINK},
            scenario = "A pull has less time than its bytes take; the link is broken then.")
    void bytes_that_take_too_long_time_out(Coverage coverage) {
        LongPull pull = longPull();
        pull.run(16, LONG).orThrow();
        coverage.expect(pull.run(32 << 10, SHORT), LlmStatus.LLM_TIMEOUT);
        coverage.expect(pull.run(1, SHORT), LlmStatus.LLM_NOT_YET_LINK);
        assertThat(pull.decoder().whyBroken(1)).contains("LLM_TIMEOUT");
        var _ = pull.decoder().unlinkClusters(List.of(ClusterInfo.of(1)), LONG, false);
        link(pull.decoder(), pull.prompt());
        pull.run(16, LONG).orThrow();
    }

    @Test
    @Covers(
            llm = LlmStatus.LLM_LINK_BUSY,
            scenario = "While a pull runs, another thread checks, pushes or unlinks the same link.")
    void a_link_does_one_kind_of_thing_at_a_time(Coverage coverage) throws Exception {
        LongPull pull = longPull();
        MemorySegment arrived = pull.dst().tensors().getFirst().asSlice(15 * MIB, 8);
        var _ = pull.src().tensors().getFirst().fill((byte) 1);
        var _ = arrived.fill((byte) 0);
        CompletableFuture<Outcome<?>> running =
                CompletableFuture.supplyAsync(() -> pull.run(8 << 10, LONG));
        while (arrived.get(ValueLayout.JAVA_BYTE, 0) == 0 && !running.isDone()) {
            Thread.onSpinWait();
        }
        LlmDataDist decoder = pull.decoder();
        coverage.expect(decoder.checkLinkStatus(1), LlmStatus.LLM_LINK_BUSY);
        coverage.expect(
                decoder.pushCache(
                        pull.dst(),
                        new CacheIndex(1, pull.src().cacheId()),
                        0,
                        TransferOptions.DEFAULT.withTensorsPerLayer(1)),
                LlmStatus.LLM_LINK_BUSY);
        coverage.expect(unlinkEntry(decoder, 1), LlmStatus.LLM_LINK_BUSY);
        coverage.expect(unlinkEntry(pull.prompt(), 2), LlmStatus.LLM_LINK_BUSY);
        running.get().orThrow();
        decoder.checkLinkStatus(1).orThrow();
    }

    @Test
    @Covers(
            llm = {LlmStatus.LLM_DEVICE_OUT_OF_MEMORY, LlmStatus.LLM_SUCCESS},
            scenario = "More device caches are allocated than the pool holds; one is freed then.")
    void a_full_device_pool_says_so(Coverage coverage) {
        LlmDataDist cluster = decoder(2);
        List<Cache> all = new ArrayList<>();
        CacheDesc large = CacheDesc.device(2, DataType.INT8, 4, MIB);
        Outcome<Cache> next = cluster.allocateCache(large);
        while (next.isOk()) {
            all.add(next.orThrow());
            next = cluster.allocateCache(large);
        }
        coverage.expect(next, LlmStatus.LLM_DEVICE_OUT_OF_MEMORY);
        cluster.deallocateCache(all.getFirst()).orThrow();
        coverage.expect(cluster.allocateCache(large), LlmStatus.LLM_SUCCESS);
    }

    @Test
    @Covers(
            llm = LlmStatus.LLM_OUT_OF_MEMORY,
            scenario = "A host cache is allocated that the host pool has no room for.")
    void a_full_host_pool_says_so(Coverage coverage) {
        coverage.expect(
                decoder(2).allocateCache(CacheDesc.host(1, DataType.INT8, 2, MIB)),
                LlmStatus.LLM_OUT_OF_MEMORY);
    }

    @Test
    @Covers(
            llm = LlmStatus.LLM_FEATURE_NOT_ENABLED,
            scenario = "A cache is allocated from a pool that is switched off.")
    void a_pool_that_is_off_gives_nothing(Coverage coverage) {
        Map<String, String> options = new HashMap<>();
        options.put("llm.DeviceId", "0");
        options.put("llm.DisabledPools", "device,host");
        LlmDataDist cluster = new LlmDataDist(2, LlmRole.DECODER);
        open.add(cluster);
        cluster.initialize(options).orThrow();
        coverage.expect(cluster.allocateCache(SMALL), LlmStatus.LLM_FEATURE_NOT_ENABLED);
    }

    @Test
    @Covers(
            llm = {LlmStatus.LLM_TIMEOUT, LlmStatus.LLM_SUCCESS},
            scenario = "A layer-wise push is waited for while its model has not computed a layer.")
    void a_task_is_waited_for_in_time_and_goes_on(Coverage coverage) {
        LlmDataDist decoder = decoder(2);
        LlmDataDist prompt = prompt(1);
        link(decoder, prompt);
        Cache src = prompt.allocateCache(SMALL).orThrow();
        Cache dst = decoder.allocateCache(SMALL).orThrow();
        CountDownLatch computed = new CountDownLatch(1);
        var task =
                prompt.transferCacheAsync(
                                src,
                                layer -> {
                                    try {
                                        computed.await();
                                        return true;
                                    } catch (InterruptedException e) {
                                        return false;
                                    }
                                },
                                List.of(
                                        new LayerPushConfig.ToCache(
                                                new CacheIndex(2, dst.cacheId()),
                                                LayerRange.ALL,
                                                LayerRange.ALL,
                                                0)),
                                LayerBlocks.NONE)
                        .orThrow();
        coverage.expect(task.synchronize(Duration.ofMillis(20)), LlmStatus.LLM_TIMEOUT);
        computed.countDown();
        coverage.expect(task.synchronize(LONG), LlmStatus.LLM_SUCCESS);
    }
}
