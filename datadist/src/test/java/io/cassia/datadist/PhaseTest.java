package io.cassia.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheKey;
import io.cassia.datadist.cache.DataType;
import io.cassia.datadist.exchange.TransferEvent;
import io.cassia.datadist.exchange.TransferOptions;
import io.cassia.datadist.exchange.TransferReport;
import io.cassia.datadist.link.ClusterInfo;
import io.cassia.datadist.link.LinkInfo;
import io.cassia.datadist.link.LinkState;
import io.cassia.datadist.link.LlmRole;
import io.cassia.datadist.memory.DataPlane;
import io.cassia.datadist.memory.EnginePlane;
import io.cassia.status.Code;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.transfer.TransferConfig;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What goes wrong during a transfer: which code, what of the link, the key and the memory. */
final class PhaseTest {
    private static final CacheDesc DESC = CacheDesc.device(4, DataType.INT32, 8, 16);
    private static final CacheKey KEY = CacheKey.request(1, 7);
    private static final Duration SHORT = Duration.ofMillis(300);
    // 200 ms by design; the rest is for a machine that does other things too.
    private static final Duration SLACK = Duration.ofMillis(600);
    private static final TransferOptions QUICK = TransferOptions.DEFAULT.withTimeout(SHORT);
    private static final TransferOptions CALM = TransferOptions.DEFAULT.withTimeout(Clusters.LONG);

    private final Clusters clusters = new Clusters();
    private final PlaneFactoryOfFaults promptPlanes = new PlaneFactoryOfFaults();
    private final PlaneFactoryOfFaults decoderPlanes = new PlaneFactoryOfFaults();
    private LlmDataDist prompt;
    private LlmDataDist decoder;
    private Cache src;
    private Cache dst;

    /** Confined to one test. Remembers the plane it made. */
    private static final class PlaneFactoryOfFaults implements PlaneFactory {
        @Nullable FaultyPlane made;

        @Override
        public Outcome<DataPlane> start(TransferConfig config, Clock clock, MeterRegistry meters) {
            return EnginePlane.start(config, clock, meters)
                    .map(
                            real -> {
                                made = new FaultyPlane(real);
                                return made;
                            });
        }

        FaultyPlane plane() {
            return Objects.requireNonNull(made);
        }
    }

    @BeforeEach
    void link() {
        prompt =
                clusters.start(
                        1,
                        LlmRole.PROMPT,
                        promptPlanes,
                        options -> options.listen("127.0.0.1", 0).roleGating(false));
        decoder =
                clusters.start(
                        2, LlmRole.DECODER, decoderPlanes, options -> options.roleGating(false));
        src = prompt.allocateCache(DESC, List.of(KEY)).orThrow();
        dst = decoder.allocateCache(DESC).orThrow();
        Clusters.fill(src, 1);
        Clusters.link(decoder, prompt);
        assertThat(Clusters.eventually(() -> state(prompt, 2) == LinkState.ACTIVE)).isTrue();
    }

    @AfterEach
    void close() {
        clusters.close();
    }

    @Test
    void bytes_that_do_not_come_time_out_and_the_key_stays() {
        decoderPlanes.plane().set(FaultyPlane.Mode.STUCK);
        long start = System.nanoTime();
        Outcome<TransferReport> pulled = decoder.pullCache(KEY, dst, 0, QUICK);
        assertEnded(start);
        Expect.failed(pulled, LlmStatus.LLM_TIMEOUT, "cluster 1", "stuck", "unlink and link again");
        assertBroken(LlmStatus.LLM_TIMEOUT);
        decoderPlanes.plane().set(FaultyPlane.Mode.NORMAL);
        relink();
        Expect.ok(decoder.pullCache(KEY, dst, 0, CALM));
        assertArrived();
    }

    @Test
    void bytes_that_come_late_do_not_count_and_the_key_stays() {
        decoderPlanes.plane().set(FaultyPlane.Mode.LATE);
        Expect.failed(decoder.pullCache(KEY, dst, 0, QUICK), LlmStatus.LLM_TIMEOUT, "time is over");
        assertBroken(LlmStatus.LLM_TIMEOUT);
        assertThat(prompt.cacheKeys()).hasSize(1);
    }

    @Test
    void a_failing_data_plane_fails_the_pull_with_its_words() {
        decoderPlanes.plane().set(FaultyPlane.Mode.FAILING);
        Expect.failed(
                decoder.pullCache(KEY, dst, 0, QUICK), LlmStatus.LLM_FAILED, "the cable is out");
        assertBroken(LlmStatus.LLM_FAILED);
        assertThat(prompt.cacheKeys()).hasSize(1);
        decoderPlanes.plane().set(FaultyPlane.Mode.NORMAL);
        relink();
        Expect.ok(decoder.pullCache(KEY, dst, 0, CALM));
    }

    @Test
    void an_owner_that_does_not_answer_is_waited_for_in_time_only() throws IOException {
        try (ScriptedPrompt hung = new ScriptedPrompt(3)) {
            Expect.ok(decoder.linkClusters(List.of(hung.info()), Clusters.LONG).overall());
            long start = System.nanoTime();
            Outcome<TransferReport> pulled =
                    decoder.pullCache(CacheKey.request(3, 1), dst, 0, QUICK);
            assertEnded(start);
            Expect.failed(pulled, LlmStatus.LLM_WAIT_PROC_TIMEOUT, "cluster 3", "no answer");
            assertThat(hung.requests()).containsExactly(ScriptedPrompt.PULL);
            Expect.failed(
                    decoder.pullCache(CacheKey.request(3, 1), dst, 0, QUICK),
                    LlmStatus.LLM_NOT_YET_LINK,
                    "broken");
            assertThat(decoder.whyBroken(3)).contains("LLM_WAIT_PROC_TIMEOUT");
        }
    }

    @Test
    void an_answer_that_breaks_the_protocol_fails_the_pull_and_breaks_the_link()
            throws IOException {
        // A list that claims more than is there; addresses for no tensor; a success; another frame.
        expectBroken(ScriptedPrompt.GRANT, "claims 127 items", 1, 0, 127);
        expectBroken(ScriptedPrompt.GRANT, "0 addresses were granted for 4 tensors", 1, 0, 0);
        expectBroken(ScriptedPrompt.STATUS, "STATUS in the place of GRANT", 0, 0, 0, 0, 0);
        expectBroken(ScriptedPrompt.READY, "READY in the place of GRANT");
        expectBroken(ScriptedPrompt.STATUS, "the message ends at byte 2", 0, 0);
    }

    private void expectBroken(int type, String words, int... body) throws IOException {
        try (ScriptedPrompt rude = new ScriptedPrompt(3)) {
            rude.answerPullWith(type, body);
            Expect.ok(decoder.linkClusters(List.of(rude.info()), Clusters.LONG).overall());
            Expect.failed(
                    decoder.pullCache(CacheKey.request(3, 1), dst, 0, CALM),
                    LlmStatus.LLM_FAILED,
                    "broke the protocol",
                    words);
            assertThat(Clusters.eventually(() -> state(decoder, 3) == LinkState.BROKEN)).isTrue();
            var _ = decoder.unlinkClusters(List.of(ClusterInfo.of(3)), SHORT, true);
        }
    }

    @Test
    void a_check_without_an_answer_leaves_the_link() throws IOException {
        try (ScriptedPrompt hung = new ScriptedPrompt(3)) {
            Expect.ok(decoder.linkClusters(List.of(hung.info()), Clusters.LONG).overall());
            Expect.failed(
                    decoder.checkLinkStatus(3, SHORT), LlmStatus.LLM_WAIT_PROC_TIMEOUT, "check");
            assertThat(state(decoder, 3)).isEqualTo(LinkState.ACTIVE);
        }
    }

    @Test
    void a_peer_that_dies_during_a_pull_fails_it() throws Exception {
        ScriptedPrompt dying = new ScriptedPrompt(3);
        Expect.ok(decoder.linkClusters(List.of(dying.info()), Clusters.LONG).overall());
        CompletableFuture<Outcome<TransferReport>> pull =
                decoder.pullCacheAsync(CacheKey.request(3, 1), dst, 0, CALM);
        assertThat(Clusters.eventually(() -> !dying.requests().isEmpty())).isTrue();
        dying.close();
        Expect.failed(pull.get(), LlmStatus.LLM_FAILED, "connection lost");
    }

    @Test
    void while_a_pull_runs_other_kinds_find_the_link_busy_and_it_goes_on() {
        decoderPlanes.plane().closeGate();
        CompletableFuture<Outcome<TransferReport>> pull = decoder.pullCacheAsync(KEY, dst, 0, CALM);
        decoderPlanes.plane().awaitArrival();
        Expect.failed(decoder.checkLinkStatus(1), LlmStatus.LLM_LINK_BUSY, "PULL of this side");
        Expect.failed(
                decoder.pushCache(dst, new CacheIndex(1, src.cacheId())),
                LlmStatus.LLM_LINK_BUSY,
                "PULL");
        assertUnlinkBusy(decoder, 1);
        Expect.failed(
                prompt.pushCache(src, new CacheIndex(2, dst.cacheId())),
                LlmStatus.LLM_LINK_BUSY,
                "PULL of the peer");
        assertUnlinkBusy(prompt, 2);
        Expect.failed(
                decoder.pullCache(new CacheIndex(1, src.cacheId()), dst, 1, QUICK),
                LlmStatus.LLM_LINK_BUSY,
                "time budget");
        decoderPlanes.plane().openGate();
        Expect.ok(pull.join());
        assertArrived();
        Expect.ok(decoder.checkLinkStatus(1));
    }

    private static void assertUnlinkBusy(LlmDataDist cluster, long peer) {
        var result = cluster.unlinkClusters(List.of(ClusterInfo.of(peer)));
        Expect.failed(result.overall(), LlmStatus.LLM_UNLINK_FAILED);
        Expect.failed(result.entries().getFirst(), LlmStatus.LLM_LINK_BUSY);
    }

    @Test
    void while_the_peer_uses_the_link_an_unlink_of_this_side_is_busy_too() {
        promptPlanes.plane().closeGate();
        CompletableFuture<Outcome<TransferReport>> push =
                decoder.pushCacheAsync(dst, new CacheIndex(1, src.cacheId(), 3), 0, CALM);
        promptPlanes.plane().awaitArrival();
        assertUnlinkBusy(prompt, 2);
        assertUnlinkBusy(decoder, 1);
        promptPlanes.plane().openGate();
        Expect.ok(push.join());
        assertThat(state(decoder, 1)).isEqualTo(LinkState.ACTIVE);
    }

    @Test
    void a_forced_unlink_ends_a_running_pull() {
        decoderPlanes.plane().closeGate();
        CompletableFuture<Outcome<TransferReport>> pull = decoder.pullCacheAsync(KEY, dst, 0, CALM);
        decoderPlanes.plane().awaitArrival();
        Expect.ok(decoder.unlinkClusters(List.of(ClusterInfo.of(1)), SHORT, true).overall());
        decoderPlanes.plane().openGate();
        Expect.failed(pull.join(), LlmStatus.LLM_NOT_YET_LINK, "force");
        assertThat(prompt.cacheKeys()).hasSize(1);
    }

    @Test
    void a_receiver_that_is_stuck_times_a_push_out_and_later_bytes_are_refused() {
        promptPlanes.plane().closeGate(FaultyPlane.Mode.STUBBORN);
        Cache target = prompt.allocateCache(DESC).orThrow();
        long start = System.nanoTime();
        Outcome<TransferReport> pushed =
                decoder.pushCache(dst, new CacheIndex(1, target.cacheId()), 0, QUICK);
        assertEnded(start);
        Expect.failed(pushed, LlmStatus.LLM_TIMEOUT, "did not end in time");
        assertThat(state(decoder, 1)).isEqualTo(LinkState.BROKEN);
        promptPlanes.plane().openGate();
        assertThat(Clusters.eventually(() -> leases(2) == 0)).isTrue();
        TransferEvent event = awaitEvent(prompt);
        assertThat(event.outcome().isOk()).isFalse();
    }

    @Test
    void a_receiver_whose_data_plane_fails_fails_the_push() {
        promptPlanes.plane().set(FaultyPlane.Mode.FAILING);
        Expect.failed(
                decoder.pushCache(dst, new CacheIndex(1, src.cacheId()), 0, QUICK),
                LlmStatus.LLM_FAILED,
                "at the receiver",
                "the cable is out");
        assertThat(state(decoder, 1)).isEqualTo(LinkState.BROKEN);
        Expect.failed(awaitEvent(prompt).outcome(), LlmStatus.LLM_FAILED, "cable");
    }

    @Test
    void memory_stays_while_a_peer_reads_it_and_goes_after() {
        decoderPlanes.plane().closeGate();
        CompletableFuture<Outcome<TransferReport>> pull = decoder.pullCacheAsync(KEY, dst, 0, CALM);
        decoderPlanes.plane().awaitArrival();
        Expect.ok(prompt.deallocateCache(src));
        Expect.ok(prompt.removeCacheKey(KEY));
        assertThat(prompt.poolStats(DESC.placement()).orElseThrow().usedBytes()).isEqualTo(2048);
        decoderPlanes.plane().openGate();
        Expect.missing(pull.join(), "consumed or removed during the transfer");
        assertThat(prompt.poolStats(DESC.placement()).orElseThrow().usedBytes()).isZero();
    }

    @Test
    void memory_stays_while_this_side_writes_it_and_goes_after() {
        decoderPlanes.plane().closeGate();
        CompletableFuture<Outcome<TransferReport>> pull = decoder.pullCacheAsync(KEY, dst, 0, CALM);
        decoderPlanes.plane().awaitArrival();
        Expect.ok(decoder.deallocateCache(dst));
        assertThat(decoder.poolStats(DESC.placement()).orElseThrow().usedBytes()).isEqualTo(2048);
        decoderPlanes.plane().openGate();
        Expect.ok(pull.join());
        assertThat(decoder.poolStats(DESC.placement()).orElseThrow().usedBytes()).isZero();
    }

    @Test
    void memory_of_a_reader_that_died_is_let_go_when_its_time_is_over() {
        decoderPlanes.plane().closeGate();
        CompletableFuture<Outcome<TransferReport>> pull =
                decoder.pullCacheAsync(KEY, dst, 0, QUICK);
        decoderPlanes.plane().awaitArrival();
        Expect.ok(prompt.deallocateCache(src));
        Expect.ok(prompt.unlinkClusters(List.of(ClusterInfo.of(2)), SHORT, true).overall());
        assertThat(prompt.caches().getFirst().pins()).isEqualTo(1);
        assertThat(Clusters.eventually(() -> prompt.caches().getFirst().pins() == 0)).isTrue();
        assertThat(
                        clusters.meters()
                                .get("cassia.datadist.dropped")
                                .tags("cluster", "1", "reason", "lease-expired")
                                .counter()
                                .count())
                .isEqualTo(1);
        decoderPlanes.plane().openGate();
        assertThat(pull.join().isOk()).isFalse();
        assertThat(prompt.cacheKeys()).hasSize(1);
    }

    @Test
    void registered_memory_cannot_be_taken_from_under_a_reader() {
        MemorySegment memory = Arena.ofAuto().allocate(8 * 64, 64);
        CacheDesc one = CacheDesc.device(1, DataType.INT32, 8, 16);
        Cache mine = prompt.registerCache(one, List.of(memory)).orThrow();
        Cache here = decoder.allocateCache(one).orThrow();
        decoderPlanes.plane().closeGate();
        CompletableFuture<Outcome<TransferReport>> pull =
                decoder.pullCacheAsync(new CacheIndex(1, mine.cacheId()), here, 0, QUICK);
        decoderPlanes.plane().awaitArrival();
        CompletableFuture<Outcome<?>> unregister =
                CompletableFuture.supplyAsync(() -> prompt.unregisterCache(mine.cacheId()));
        assertThat(unregister.isDone()).isFalse();
        decoderPlanes.plane().openGate();
        Expect.ok(pull.join());
        Expect.ok(unregister.join());
    }

    @Test
    void a_pull_may_wait_for_a_key_that_comes() {
        CacheKey soon = CacheKey.request(1, 50);
        CompletableFuture<Outcome<TransferReport>> pull =
                decoder.pullCacheAsync(soon, dst, 0, CALM.withKeyWait(Clusters.LONG));
        assertThat(Clusters.eventually(() -> waited("2"))).isTrue();
        assertThat(pull.isDone()).isFalse();
        Cache late = prompt.allocateCache(DESC, List.of(soon)).orThrow();
        assertThat(late.cacheId()).isPositive();
        Expect.ok(pull.join());
    }

    @Test
    void who_waits_for_a_key_is_forgotten_with_its_link() {
        Duration minute = Duration.ofMinutes(1);
        Expect.ok(decoder.checkLinkStatus(1));
        long start = System.nanoTime();
        CompletableFuture<Outcome<TransferReport>> pull =
                decoder.pullCacheAsync(
                        CacheKey.request(1, 50),
                        dst,
                        0,
                        CALM.withTimeout(minute).withKeyWait(minute));
        // The owner has heard of it.
        assertThat(
                        Clusters.eventually(
                                () ->
                                        System.nanoTime() - start
                                                > prompt.links().getFirst().silenceNanos()))
                .isTrue();
        Expect.ok(decoder.unlinkClusters(List.of(ClusterInfo.of(1)), SHORT, true).overall());
        Expect.failed(pull.join(), LlmStatus.LLM_NOT_YET_LINK, "unlinked by force");
        assertThat(
                        Clusters.eventually(
                                () ->
                                        clusters.meters()
                                                        .get("cassia.datadist.dropped")
                                                        .tags("cluster", "1")
                                                        .tag("reason", "answer-to-lost-peer")
                                                        .counter()
                                                        .count()
                                                == 1))
                .isTrue();
    }

    private boolean waited(String cluster) {
        return clusters.meters()
                        .find("cassia.datadist.link.wait")
                        .tags("cluster", cluster, "kind", "pull")
                        .timer()
                != null;
    }

    @Test
    void a_call_has_a_limit_above_0_and_may_wait_as_good_as_for_ever() {
        Expect.invalid(
                decoder.pullCache(KEY, dst, 0, CALM.withTimeout(Duration.ZERO)), "not above 0");
        Expect.invalid(
                prompt.pushCache(
                        src,
                        new CacheIndex(2, dst.cacheId()),
                        0,
                        CALM.withTimeout(Duration.ofMillis(-1))),
                "not above 0");
        assertThat(state(decoder, 1)).isEqualTo(LinkState.ACTIVE);
        Duration ever = Duration.ofSeconds(Long.MAX_VALUE);
        Expect.ok(decoder.pullCache(KEY, dst, 0, CALM.withTimeout(ever).withKeyWait(ever)));
        Expect.ok(decoder.checkLinkStatus(1, ever));
        Expect.ok(decoder.unlinkClusters(List.of(ClusterInfo.of(1)), ever, false).overall());
    }

    @Test
    void a_pull_waits_for_a_key_no_longer_than_it_may() {
        long start = System.nanoTime();
        Expect.missing(
                decoder.pullCache(
                        CacheKey.request(1, 50), dst, 0, CALM.withKeyWait(Duration.ofMillis(100))),
                "request key 50");
        assertThat(System.nanoTime() - start)
                .isBetween(Duration.ofMillis(100).toNanos(), Duration.ofSeconds(2).toNanos());
        // Even who lets it wait for ever gets the owner's answer, not silence.
        Expect.missing(
                decoder.pullCache(
                        CacheKey.request(1, 50),
                        dst,
                        0,
                        CALM.withTimeout(Duration.ofSeconds(1)).withKeyWait(Clusters.LONG)));
        assertThat(state(decoder, 1)).isEqualTo(LinkState.ACTIVE);
    }

    @Test
    void two_decoders_that_pull_one_key_have_one_success() {
        LlmDataDist other =
                clusters.start(3, LlmRole.DECODER, options -> options.roleGating(false));
        Clusters.link(other, prompt);
        Cache there = other.allocateCache(DESC).orThrow();
        for (int round = 0; round < 100; round++) {
            CacheKey key = CacheKey.request(1, 1000 + round);
            Cache cache = prompt.allocateCache(DESC, List.of(key)).orThrow();
            CompletableFuture<Outcome<TransferReport>> a =
                    decoder.pullCacheAsync(key, dst, 0, CALM);
            CompletableFuture<Outcome<TransferReport>> b =
                    other.pullCacheAsync(key, there, 0, CALM);
            assertThat(List.<Code>of(Expect.code(a.join()), Expect.code(b.join())))
                    .containsExactlyInAnyOrder(
                            LlmStatus.LLM_SUCCESS, LlmStatus.LLM_KV_CACHE_NOT_EXIST);
            Expect.ok(prompt.deallocateCache(cache));
        }
        assertThat(prompt.caches()).hasSize(1);
    }

    @Test
    void keys_that_nobody_pulls_expire_where_that_is_asked_for() {
        LlmDataDist expiring =
                clusters.start(
                        4,
                        LlmRole.PROMPT,
                        options -> options.listen("127.0.0.1", 0).keyTtl(Duration.ofMillis(100)));
        Cache cache = expiring.allocateCache(DESC, List.of(CacheKey.request(4, 1))).orThrow();
        Expect.ok(expiring.deallocateCache(cache));
        assertThat(expiring.cacheKeys()).hasSize(1);
        assertThat(Clusters.eventually(() -> expiring.caches().isEmpty())).isTrue();
        assertThat(
                        clusters.meters()
                                .get("cassia.datadist.dropped")
                                .tags("cluster", "4", "reason", "key-expired")
                                .counter()
                                .count())
                .isEqualTo(1);
    }

    @Test
    void a_close_ends_running_calls() {
        decoderPlanes.plane().closeGate();
        CompletableFuture<Outcome<TransferReport>> pull =
                decoder.pullCacheAsync(KEY, dst, 0, QUICK);
        decoderPlanes.plane().awaitArrival();
        decoder.close();
        assertThat(pull.join().isOk()).isFalse();
        assertThat(prompt.cacheKeys()).hasSize(1);
    }

    private long leases(long cluster) {
        return (long)
                clusters.meters()
                        .get("cassia.datadist.leases")
                        .tags("cluster", Long.toString(cluster))
                        .gauge()
                        .value();
    }

    private static TransferEvent awaitEvent(LlmDataDist cluster) {
        TransferEvent[] event = new TransferEvent[1];
        assertThat(
                        Clusters.eventually(
                                () -> {
                                    List<TransferEvent> polled = cluster.pollTransferEvents(1);
                                    if (!polled.isEmpty()) {
                                        event[0] = polled.getFirst();
                                    }
                                    return !polled.isEmpty();
                                }))
                .isTrue();
        return event[0];
    }

    private void assertBroken(LlmStatus why) {
        assertThat(decoder.whyBroken(1)).contains(why.name());
        Expect.failed(decoder.pullCache(KEY, dst, 0, QUICK), LlmStatus.LLM_NOT_YET_LINK, "broken");
        Expect.failed(decoder.checkLinkStatus(1), LlmStatus.LLM_NOT_YET_LINK, "broken");
    }

    private void relink() {
        Expect.ok(decoder.unlinkClusters(List.of(Clusters.at(prompt))).overall());
        Clusters.link(decoder, prompt);
    }

    private void assertArrived() {
        for (int t = 0; t < 4; t++) {
            assertThat(dst.tensors().get(t).asSlice(0, 64).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(src.tensors().get(t).asSlice(0, 64).toArray(ValueLayout.JAVA_BYTE));
        }
    }

    private static LinkState state(LlmDataDist cluster, long peer) {
        return cluster.links().stream()
                .filter(link -> link.peerId() == peer)
                .map(LinkInfo::state)
                .findFirst()
                .orElse(LinkState.CLOSED);
    }

    private static void assertEnded(long startNanos) {
        assertThat(System.nanoTime() - startNanos)
                .isBetween(SHORT.toNanos() - 5_000_000, SHORT.plus(SLACK).toNanos());
    }
}
