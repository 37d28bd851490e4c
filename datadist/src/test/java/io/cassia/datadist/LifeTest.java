package io.cassia.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.cache.BatchCopy;
import io.cassia.datadist.cache.BlocksCacheKey;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheKey;
import io.cassia.datadist.cache.DataType;
import io.cassia.datadist.cache.Placement;
import io.cassia.datadist.exchange.LayerBlocks;
import io.cassia.datadist.exchange.TransferOptions;
import io.cassia.datadist.link.ClusterInfo;
import io.cassia.datadist.link.IpInfo;
import io.cassia.datadist.link.LlmRole;
import io.cassia.datadist.memory.PoolConfig;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Life cycle, roles, caches and copies of one instance (spec 2.2, 2.4, 7; scenarios 1 to 6, 24,
 * 25).
 */
final class LifeTest {
    private static final CacheDesc SMALL = CacheDesc.device(2, DataType.INT8, 2, 512);

    private final Clusters clusters = new Clusters();

    @AfterEach
    void close() {
        clusters.close();
    }

    static Stream<Arguments> calls() {
        Cache cache = new Cache(1, SMALL, List.of());
        CacheIndex index = new CacheIndex(9, 1);
        TransferOptions options = TransferOptions.DEFAULT;
        long[] one = {0};
        return Stream.<Call>of(
                        d -> d.setRole(LlmRole.MIX),
                        d -> d.linkClusters(List.of(ClusterInfo.of(9, "127.0.0.1", 1))).overall(),
                        d -> d.unlinkClusters(List.of(ClusterInfo.of(9))).overall(),
                        d -> d.checkLinkStatus(9),
                        d -> d.allocateCache(SMALL),
                        d -> d.allocateBlocksCache(SMALL),
                        d -> d.deallocateCache(cache),
                        d -> d.registerCache(SMALL, List.of()),
                        d -> d.registerCache(SMALL, one),
                        d -> d.registerBlocksCache(SMALL, List.of(), new BlocksCacheKey(0, 0)),
                        d -> d.unregisterCache(1),
                        d -> d.removeCacheKey(CacheKey.request(0, 1)),
                        d -> d.removeCacheKey(new BlocksCacheKey(0, 1)),
                        d -> d.pullCache(index, cache),
                        d -> d.pullBlocks(index, cache, one, one),
                        d -> d.pushCache(cache, index),
                        d -> d.pushBlocks(cache, index, one, one),
                        d ->
                                d.transferCacheAsync(
                                        cache, layer -> true, List.of(), LayerBlocks.NONE),
                        d -> d.pullCacheAsync(index, cache, 0, options).join(),
                        d -> d.copyCache(BatchCopy.of(cache, cache)),
                        d -> d.copyBlocks(cache, cache, one, List.of(one)),
                        d -> d.copyBlocks(cache, Map.of(0L, List.of(1L))),
                        d -> d.swapBlocks(cache, cache, Map.of(0L, 1L)),
                        d -> d.addTransferListener(event -> {}),
                        d -> d.addLinkListener(link -> {}))
                .map(Arguments::of);
    }

    interface Call {
        Outcome<?> on(LlmDataDist cluster);
    }

    @ParameterizedTest
    @MethodSource("calls")
    void every_call_before_initialize_and_after_close_fails(Call call) {
        try (LlmDataDist cluster = new LlmDataDist(1, LlmRole.DECODER)) {
            Expect.failed(call.on(cluster), LlmStatus.LLM_FAILED, "not initialised", "cluster 1");
        }
        LlmDataDist closed = clusters.decoder(2);
        closed.close();
        Expect.failed(call.on(closed), LlmStatus.LLM_FAILED, "not initialised");
        assertThat(closed.links()).isEmpty();
        assertThat(closed.caches()).isEmpty();
        assertThat(closed.options()).isEmpty();
    }

    @Test
    void initialize_twice_is_once_and_after_close_again() {
        LlmDataDist cluster = clusters.prompt(1);
        Optional<IpInfo> address = cluster.listenAddress();
        Expect.ok(cluster.initialize(Map.of("nonsense", "ignored on the second call")));
        assertThat(cluster.listenAddress()).isEqualTo(address);
        cluster.close();
        cluster.close();
        assertThat(cluster.isInitialized()).isFalse();
        Expect.ok(
                cluster.initialize(
                        DataDistOptions.builder()
                                .listen("127.0.0.1", 0)
                                .dataHost("127.0.0.1")
                                .build()));
        assertThat(cluster.isInitialized()).isTrue();
    }

    @Test
    void a_port_in_use_is_named() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                LlmDataDist cluster = new LlmDataDist(1, LlmRole.PROMPT)) {
            Map<String, String> options =
                    Map.of(
                            "llm.DeviceId",
                            "0",
                            "llm.ListenIpInfo",
                            "127.0.0.1:" + taken.getLocalPort());
            Expect.failed(
                    cluster.initialize(options),
                    LlmStatus.LLM_FAILED,
                    "127.0.0.1:" + taken.getLocalPort());
            assertThat(cluster.isInitialized()).isFalse();
        }
    }

    @Test
    void a_prompt_needs_an_address_unless_roles_do_not_gate() {
        try (LlmDataDist cluster = new LlmDataDist(1, LlmRole.PROMPT)) {
            Expect.invalid(cluster.initialize(Map.of("llm.DeviceId", "0")), "llm.ListenIpInfo");
            Expect.ok(
                    cluster.initialize(
                            Map.of(
                                    "llm.DeviceId",
                                    "0",
                                    "llm.RoleGating",
                                    "0",
                                    "llm.DataHost",
                                    "127.0.0.1")));
        }
    }

    @Test
    void a_pool_that_cannot_be_had_is_out_of_memory() {
        try (LlmDataDist cluster = new LlmDataDist(1, LlmRole.DECODER)) {
            PoolConfig huge = PoolConfig.ofBytes(1L << 60).orThrow();
            Expect.failed(
                    cluster.initialize(
                            DataDistOptions.builder()
                                    .dataHost("127.0.0.1")
                                    .devicePool(huge)
                                    .build()),
                    LlmStatus.LLM_OUT_OF_MEMORY,
                    "DEVICE pool");
        }
    }

    @Test
    void the_role_switches_only_where_that_is_allowed() {
        LlmDataDist fixed = clusters.decoder(1);
        Expect.failed(
                fixed.setRole(LlmRole.MIX), LlmStatus.LLM_FEATURE_NOT_ENABLED, "EnableSwitchRole");
        LlmDataDist free = clusters.start(2, LlmRole.DECODER, options -> options.switchRole(true));
        Expect.invalid(free.setRole(LlmRole.PROMPT), "llm.ListenIpInfo");
        Expect.invalid(
                free.setRole(LlmRole.PROMPT, Map.of("llm.ListenIpInfo", "nowhere")), "nowhere");
        assertThat(free.role()).isEqualTo(LlmRole.DECODER);
    }

    /** The unit-test sequence of the spec (7), each step a success; and invariant 10. */
    @Test
    void the_listener_follows_the_role() throws IOException {
        LlmDataDist cluster =
                clusters.start(2, LlmRole.DECODER, options -> options.switchRole(true));
        Map<String, String> listen = Map.of("llm.ListenIpInfo", "127.0.0.1:" + Clusters.freePort());
        Expect.ok(cluster.setRole(LlmRole.DECODER));
        Expect.ok(cluster.setRole(LlmRole.PROMPT, listen));
        IpInfo address = cluster.listenAddress().orElseThrow();
        assertThat(accepts(address)).isTrue();
        Expect.ok(cluster.setRole(LlmRole.PROMPT, listen));
        assertThat(accepts(address)).isTrue();
        Expect.ok(cluster.setRole(LlmRole.MIX));
        assertThat(cluster.listenAddress()).isEmpty();
        assertThat(accepts(address)).isFalse();
        Expect.ok(cluster.setRole(LlmRole.PROMPT, listen));
        Expect.ok(cluster.setRole(LlmRole.DECODER, listen));
        assertThat(accepts(address)).isFalse();
        assertThat(cluster.role()).isEqualTo(LlmRole.DECODER);
    }

    @Test
    void a_port_that_cannot_be_had_leaves_the_old_one_open() throws IOException {
        LlmDataDist cluster =
                clusters.start(
                        2,
                        LlmRole.PROMPT,
                        options -> options.switchRole(true).listen("127.0.0.1", 0));
        IpInfo address = cluster.listenAddress().orElseThrow();
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Expect.failed(
                    cluster.setRole(
                            LlmRole.PROMPT,
                            Map.of("llm.ListenIpInfo", "127.0.0.1:" + taken.getLocalPort())),
                    LlmStatus.LLM_FAILED,
                    "listen");
        }
        assertThat(accepts(address)).isTrue();
        assertThat(cluster.listenAddress()).contains(address);
    }

    @Test
    void the_role_cannot_switch_while_a_link_exists() {
        LlmDataDist prompt =
                clusters.start(
                        1,
                        LlmRole.PROMPT,
                        options -> options.switchRole(true).listen("127.0.0.1", 0));
        LlmDataDist decoder =
                clusters.start(2, LlmRole.DECODER, options -> options.switchRole(true));
        Clusters.link(decoder, prompt);
        Expect.failed(decoder.setRole(LlmRole.DECODER), LlmStatus.LLM_EXIST_LINK, "cluster 1");
        Expect.failed(prompt.setRole(LlmRole.MIX), LlmStatus.LLM_EXIST_LINK, "cluster 2");
        Expect.ok(decoder.unlinkClusters(List.of(ClusterInfo.of(1))).overall());
        Expect.ok(decoder.setRole(LlmRole.MIX));
        assertThat(Clusters.eventually(() -> prompt.links().isEmpty())).isTrue();
        Expect.ok(prompt.setRole(LlmRole.MIX));
    }

    @Test
    void roles_decide_who_may_call_what() {
        LlmDataDist prompt = clusters.prompt(1);
        LlmDataDist decoder = clusters.decoder(2);
        LlmDataDist mix = clusters.start(3, LlmRole.MIX, options -> options);
        for (LlmDataDist cluster : List.of(prompt, mix)) {
            Expect.invalid(
                    cluster.linkClusters(List.of(ClusterInfo.of(9, "127.0.0.1", 1))).overall(),
                    "decoder");
            Cache cache = cluster.allocateCache(SMALL).orThrow();
            Expect.invalid(cluster.pullCache(new CacheIndex(9, 1), cache), "DECODER");
            Expect.invalid(cluster.checkLinkStatus(9), "DECODER");
        }
        Cache cache = decoder.allocateCache(SMALL).orThrow();
        Expect.invalid(decoder.pushCache(cache, new CacheIndex(9, 1)), "PROMPT");
        Expect.invalid(decoder.allocateCache(SMALL, List.of(CacheKey.request(0, 1))), "PROMPT");
        Expect.invalid(decoder.allocateBlocksCache(SMALL, new BlocksCacheKey(0, 1)), "DECODER");
        Expect.invalid(decoder.removeCacheKey(CacheKey.request(0, 1)), "PROMPT");
        Expect.ok(mix.allocateBlocksCache(SMALL, new BlocksCacheKey(0, 1)));
        Expect.ok(prompt.removeCacheKey(CacheKey.request(0, 1)));
    }

    @Test
    void pools_run_out_by_their_own_codes_and_recover() {
        LlmDataDist cluster = clusters.decoder(1);
        CacheDesc big = CacheDesc.device(3, DataType.INT8, 1, 1 << 20);
        Cache first = cluster.allocateCache(big).orThrow();
        Expect.failed(
                cluster.allocateCache(big),
                LlmStatus.LLM_DEVICE_OUT_OF_MEMORY,
                "used=3145728",
                "largest=1048576");
        CacheDesc host = CacheDesc.host(5, DataType.INT8, 1, 1 << 20);
        Expect.failed(cluster.allocateCache(host), LlmStatus.LLM_OUT_OF_MEMORY, "HOST pool");
        Expect.ok(cluster.deallocateCache(first));
        Expect.ok(cluster.allocateCache(big));
        assertThat(cluster.poolStats(Placement.DEVICE).orElseThrow().usedBytes())
                .isEqualTo(3 << 20);
        assertThat(cluster.poolStats(Placement.HOST).orElseThrow().usedBytes()).isZero();
        Expect.missing(cluster.deallocateCache(first), "cache 1");
    }

    @Test
    void a_pool_that_is_off_is_a_feature_not_enabled() {
        LlmDataDist cluster =
                clusters.start(1, LlmRole.DECODER, options -> options.devicePool(PoolConfig.OFF));
        Expect.failed(
                cluster.allocateCache(SMALL), LlmStatus.LLM_FEATURE_NOT_ENABLED, "DEVICE pool");
    }

    @Test
    void copies_work_through_the_api() {
        LlmDataDist cluster = clusters.decoder(1);
        Cache src = cluster.allocateCache(SMALL).orThrow();
        Cache dst = cluster.allocateCache(SMALL).orThrow();
        Cache host = cluster.allocateCache(CacheDesc.host(2, DataType.INT8, 2, 512)).orThrow();
        Clusters.fill(src, 5);
        Expect.ok(cluster.copyCache(BatchCopy.of(src, dst).withBatches(0, 1)));
        Expect.ok(cluster.swapBlocks(dst, host, Map.of(1L, 0L)));
        Expect.ok(cluster.copyBlocks(dst, Map.of(1L, List.of(0L))));
        for (Cache cache : List.of(dst, host)) {
            assertThat(
                            cache.tensors()
                                    .get(1)
                                    .asSlice(0, 512)
                                    .mismatch(src.tensors().get(1).asSlice(0, 512)))
                    .isEqualTo(-1);
        }
        Expect.invalid(
                cluster.copyBlocks(dst, Map.of(2L, List.of(0L))), "copyBlocks", "source block 2");
    }

    private static boolean accepts(IpInfo address) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), address.port())) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }
}
