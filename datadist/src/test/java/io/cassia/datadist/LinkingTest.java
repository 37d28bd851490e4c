package io.cassia.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.DataType;
import io.cassia.datadist.link.ClusterInfo;
import io.cassia.datadist.link.LinkInfo;
import io.cassia.datadist.link.LinkResult;
import io.cassia.datadist.link.LinkState;
import io.cassia.datadist.link.LlmRole;
import io.cassia.status.LlmStatus;
import io.cassia.testkit.CrowdedPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Linking over real sockets (spec section 5; scenarios 7 to 15, 21 to 23). */
final class LinkingTest {
    private static final Duration SHORT = Duration.ofMillis(500);
    // 200 ms by design; the rest is for a machine that does other things too.
    private static final Duration SLACK = Duration.ofMillis(600);

    private final Clusters clusters = new Clusters();
    private final List<AutoCloseable> sockets = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable socket : sockets) {
            socket.close();
        }
        clusters.close();
    }

    @Test
    void both_ends_know_a_link_and_lose_it_together() {
        LlmDataDist prompt = clusters.prompt(1);
        LlmDataDist decoder = clusters.decoder(2);
        Clusters.link(decoder, prompt);
        assertThat(decoder.links())
                .singleElement()
                .satisfies(
                        link -> {
                            assertThat(link.peerId()).isEqualTo(1);
                            assertThat(link.dialed()).isTrue();
                            assertThat(link.state()).isEqualTo(LinkState.ACTIVE);
                            assertThat(link.peerRole()).contains(LlmRole.PROMPT);
                        });
        assertThat(Clusters.eventually(() -> states(prompt).equals(List.of(LinkState.ACTIVE))))
                .isTrue();
        Expect.ok(decoder.checkLinkStatus(1));
        Expect.ok(decoder.unlinkClusters(List.of(Clusters.at(prompt))).overall());
        assertThat(decoder.links()).isEmpty();
        assertThat(prompt.links()).isEmpty();
        Expect.failed(decoder.checkLinkStatus(1), LlmStatus.LLM_NOT_YET_LINK, "cluster 1");
    }

    @Test
    void seventeen_clusters_are_too_many_and_none_is_none() {
        LlmDataDist decoder = clusters.decoder(2);
        List<ClusterInfo> many =
                LongStream.range(10, 27)
                        .mapToObj(id -> ClusterInfo.of(id, "127.0.0.1", 1))
                        .toList();
        for (LinkResult result :
                List.of(
                        decoder.linkClusters(many, SHORT),
                        decoder.unlinkClusters(many, SHORT, false))) {
            Expect.failed(result.overall(), LlmStatus.LLM_CLUSTER_NUM_EXCEED_LIMIT, "17");
            assertThat(result.entries()).isEmpty();
        }
        Expect.invalid(decoder.linkClusters(List.of(), SHORT).overall());
        Expect.invalid(decoder.linkClusters(many.subList(0, 1), Duration.ZERO).overall());
        LinkResult sixteen = decoder.linkClusters(many.subList(0, 16), SHORT);
        assertThat(sixteen.statuses()).hasSize(16).containsOnly(LlmStatus.LLM_LINK_FAILED);
    }

    @Test
    void a_closed_port_fails_at_once_and_names_the_peer() throws IOException {
        int port;
        try (ServerSocket gone = listener()) {
            port = gone.getLocalPort();
        }
        LlmDataDist decoder = clusters.decoder(2);
        long start = System.nanoTime();
        LinkResult result =
                decoder.linkClusters(List.of(ClusterInfo.of(1, "127.0.0.1", port)), Clusters.LONG);
        Expect.failed(
                result.entries().getFirst(),
                LlmStatus.LLM_LINK_FAILED,
                "127.0.0.1 port " + port,
                "refused");
        assertThat(System.nanoTime() - start).isLessThan(Duration.ofSeconds(2).toNanos());
        assertThat(decoder.links()).isEmpty();
    }

    @Test
    void refused_attempts_are_repeated_within_the_time() throws Exception {
        int port;
        try (ServerSocket gone = listener()) {
            port = gone.getLocalPort();
        }
        LlmDataDist decoder =
                clusters.start(2, LlmRole.DECODER, options -> options.linkRetryCount(20));
        CompletableFuture<LinkResult> linking =
                decoder.linkClustersAsync(
                        List.of(ClusterInfo.of(1, "127.0.0.1", port)), Duration.ofSeconds(4));
        LlmDataDist prompt =
                clusters.start(1, LlmRole.PROMPT, options -> options.listen("127.0.0.1", port));
        Expect.ok(linking.get().overall());
        assertThat(prompt.isInitialized()).isTrue();
    }

    @Test
    void a_peer_that_never_answers_is_given_up_in_time() throws IOException {
        ServerSocket hung = hungPeer();
        LlmDataDist decoder = clusters.decoder(2);
        long start = System.nanoTime();
        LinkResult result =
                decoder.linkClusters(
                        List.of(ClusterInfo.of(1, "127.0.0.1", hung.getLocalPort())), SHORT);
        assertEnded(start, SHORT);
        Expect.failed(
                result.entries().getFirst(), LlmStatus.LLM_WAIT_PROC_TIMEOUT, "did not answer");
        assertThat(result.status()).isEqualTo(LlmStatus.LLM_WAIT_PROC_TIMEOUT);
        assertThat(decoder.links()).isEmpty();
    }

    @Test
    void who_was_reached_may_answer_later_than_one_attempt_takes() throws IOException {
        ServerSocket hung = hungPeer();
        LlmDataDist decoder =
                clusters.start(2, LlmRole.DECODER, options -> options.linkRetryCount(10));
        long start = System.nanoTime();
        LinkResult result =
                decoder.linkClusters(
                        List.of(ClusterInfo.of(1, "127.0.0.1", hung.getLocalPort())), SHORT);
        assertEnded(start, SHORT);
        Expect.failed(
                result.entries().getFirst(), LlmStatus.LLM_WAIT_PROC_TIMEOUT, "did not answer");
    }

    @Test
    void an_address_that_swallows_packets_times_out() throws IOException {
        CrowdedPort full = CrowdedPort.open();
        sockets.add(full);
        LlmDataDist decoder = clusters.decoder(2);
        long start = System.nanoTime();
        LinkResult result =
                decoder.linkClusters(List.of(ClusterInfo.of(1, "127.0.0.1", full.port())), SHORT);
        assertEnded(start, SHORT);
        Expect.failed(result.entries().getFirst(), LlmStatus.LLM_TIMEOUT, "no answer in time");
        Expect.failed(result.overall(), LlmStatus.LLM_LINK_FAILED);
    }

    @Test
    void a_second_link_is_already_there() {
        LlmDataDist prompt = clusters.prompt(1);
        LlmDataDist decoder = clusters.decoder(2);
        Clusters.link(decoder, prompt);
        LinkResult again = decoder.linkClusters(List.of(Clusters.at(prompt)), SHORT);
        Expect.failed(again.overall(), LlmStatus.LLM_ALREADY_LINK);
        Expect.failed(again.entries().getFirst(), LlmStatus.LLM_ALREADY_LINK, "cluster 1");
        Expect.ok(decoder.checkLinkStatus(1));
    }

    @Test
    void a_cluster_that_stands_twice_is_refused_the_second_time() {
        LlmDataDist prompt = clusters.prompt(1);
        LlmDataDist decoder = clusters.decoder(2);
        ClusterInfo info = Clusters.at(prompt);
        LinkResult result = decoder.linkClusters(List.of(info, info), Clusters.LONG);
        assertThat(result.statuses())
                .containsExactly(LlmStatus.LLM_SUCCESS, LlmStatus.LLM_PARAM_INVALID);
        Expect.invalid(result.entries().get(1), "twice", "0x5010B003");
        Expect.ok(decoder.checkLinkStatus(1));
    }

    @Test
    void a_dead_cluster_does_not_disturb_a_living_one() throws IOException {
        LlmDataDist prompt = clusters.prompt(1);
        LlmDataDist decoder = clusters.decoder(2);
        int port;
        try (ServerSocket gone = listener()) {
            port = gone.getLocalPort();
        }
        LinkResult result =
                decoder.linkClusters(
                        List.of(Clusters.at(prompt), ClusterInfo.of(3, "127.0.0.1", port)),
                        Clusters.LONG);
        assertThat(result.statuses())
                .containsExactly(LlmStatus.LLM_SUCCESS, LlmStatus.LLM_LINK_FAILED);
        Expect.failed(result.overall(), LlmStatus.LLM_LINK_FAILED, "1 of 2");
        Expect.ok(decoder.checkLinkStatus(1));
    }

    @Test
    void bad_entries_are_refused_without_a_connection() {
        LlmDataDist decoder = clusters.decoder(2);
        LinkResult result =
                decoder.linkClusters(
                        List.of(
                                ClusterInfo.of(3, "256.0.0.1", 1),
                                ClusterInfo.of(4, "127.0.0.1", 0),
                                ClusterInfo.of(5),
                                ClusterInfo.of(6, "127.0.0.1", 1).from("not an address"),
                                ClusterInfo.of(2, "127.0.0.1", 1)),
                        SHORT);
        assertThat(result.statuses()).containsOnly(LlmStatus.LLM_PARAM_INVALID);
        Expect.invalid(result.overall(), "256.0.0.1");
    }

    @Test
    void an_unknown_host_name_is_a_failed_link() {
        LlmDataDist decoder = clusters.decoder(2);
        LinkResult result =
                decoder.linkClusters(
                        List.of(ClusterInfo.of(3, "no-such-host.invalid", 1)), Clusters.LONG);
        Expect.failed(
                result.entries().getFirst(), LlmStatus.LLM_LINK_FAILED, "no-such-host.invalid");
    }

    @Test
    void names_and_ipv6_addresses_can_be_linked() {
        LlmDataDist byName = clusters.prompt(1);
        LlmDataDist v6 = clusters.start(3, LlmRole.PROMPT, options -> options.listen("::1", 0));
        LlmDataDist decoder = clusters.decoder(2);
        int port = byName.listenAddress().orElseThrow().port();
        int port6 = v6.listenAddress().orElseThrow().port();
        LinkResult result =
                decoder.linkClusters(
                        List.of(
                                ClusterInfo.of(1, "localhost", port).from("127.0.0.1"),
                                ClusterInfo.of(3, "::1", port6)),
                        Clusters.LONG);
        Expect.ok(result.overall());
    }

    @Test
    void the_cluster_that_answers_has_to_be_the_one_asked_for() {
        LlmDataDist prompt = clusters.prompt(1);
        LlmDataDist decoder = clusters.decoder(2);
        int port = prompt.listenAddress().orElseThrow().port();
        LinkResult result =
                decoder.linkClusters(List.of(ClusterInfo.of(9, "127.0.0.1", port)), Clusters.LONG);
        Expect.invalid(result.entries().getFirst(), "this is cluster 1, not cluster 9");
        assertThat(decoder.links()).isEmpty();
        assertThat(prompt.links()).isEmpty();
    }

    @Test
    void ends_that_differ_in_remote_access_do_not_link() {
        LlmDataDist prompt = clusters.prompt(1);
        LlmDataDist decoder =
                clusters.start(2, LlmRole.DECODER, options -> options.remoteAccess(false));
        LinkResult result = decoder.linkClusters(List.of(Clusters.at(prompt)), Clusters.LONG);
        Expect.invalid(result.entries().getFirst(), "EnableRemoteCacheAccessible");
    }

    @Test
    void strangers_on_the_port_are_turned_away() throws IOException {
        LlmDataDist prompt = clusters.prompt(1);
        int port = prompt.listenAddress().orElseThrow().port();
        try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port)) {
            stranger.getOutputStream()
                    .write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(stranger.getInputStream().read()).isEqualTo(-1);
        }
        LlmDataDist decoder = clusters.decoder(2);
        Clusters.link(decoder, prompt);
    }

    @Test
    void a_peer_that_speaks_nonsense_is_a_failed_link() throws IOException {
        ServerSocket http =
                scripted(
                        socket -> {
                            socket.getOutputStream()
                                    .write(
                                            "HTTP/1.1 400 Bad Request\r\n\r\n"
                                                    .getBytes(StandardCharsets.US_ASCII));
                            socket.close();
                        });
        LlmDataDist decoder = clusters.decoder(2);
        LinkResult result =
                decoder.linkClusters(
                        List.of(ClusterInfo.of(1, "127.0.0.1", http.getLocalPort())),
                        Clusters.LONG);
        Expect.failed(
                result.entries().getFirst(), LlmStatus.LLM_LINK_FAILED, "not a control frame");
    }

    @Test
    void one_call_at_a_time_links() throws Exception {
        ServerSocket hung = hungPeer();
        LlmDataDist decoder = clusters.decoder(2);
        CompletableFuture<LinkResult> first =
                decoder.linkClustersAsync(
                        List.of(ClusterInfo.of(1, "127.0.0.1", hung.getLocalPort())),
                        Duration.ofMillis(800));
        assertThat(Clusters.eventually(() -> !decoder.links().isEmpty())).isTrue();
        long start = System.nanoTime();
        Duration hundred = Duration.ofMillis(100);
        LinkResult second =
                decoder.linkClusters(List.of(ClusterInfo.of(3, "127.0.0.1", 1)), hundred);
        assertEnded(start, hundred);
        Expect.failed(second.overall(), LlmStatus.LLM_PROCESSING_LINK, "100 ms");
        assertThat(second.entries()).isEmpty();
        Expect.failed(
                decoder.unlinkClusters(List.of(ClusterInfo.of(3)), hundred, false).overall(),
                LlmStatus.LLM_PROCESSING_LINK);
        assertThat(first.get().statuses()).containsExactly(LlmStatus.LLM_WAIT_PROC_TIMEOUT);
    }

    @Test
    void a_close_does_not_wait_for_a_peer_that_hangs() throws Exception {
        ServerSocket hung = hungPeer();
        LlmDataDist decoder = clusters.decoder(2);
        CompletableFuture<LinkResult> linking =
                decoder.linkClustersAsync(
                        List.of(ClusterInfo.of(1, "127.0.0.1", hung.getLocalPort())),
                        Duration.ofSeconds(30));
        assertThat(Clusters.eventually(() -> !decoder.links().isEmpty())).isTrue();
        try (Socket dialled = hung.accept()) {
            assertThat(dialled.getInputStream().read()).isNotEqualTo(-1);
            long start = System.nanoTime();
            decoder.close();
            assertThat(System.nanoTime() - start).isLessThan(Duration.ofSeconds(3).toNanos());
        }
        assertThat(linking.get().overall().isOk()).isFalse();
    }

    @Test
    void what_is_not_linked_cannot_be_used_but_be_unlinked() {
        LlmDataDist decoder = clusters.decoder(2);
        Cache cache = decoder.allocateCache(CacheDesc.device(2, DataType.INT8, 1, 8)).orThrow();
        Expect.failed(
                decoder.pullCache(new CacheIndex(1, 1), cache),
                LlmStatus.LLM_NOT_YET_LINK,
                "cluster 1");
        LinkResult result = decoder.unlinkClusters(List.of(ClusterInfo.of(1)));
        Expect.ok(result.overall());
        Expect.failed(result.entries().getFirst(), LlmStatus.LLM_NOT_YET_LINK);
    }

    @Test
    void after_the_peer_unlinked_nothing_can_be_pulled() {
        LlmDataDist prompt = clusters.prompt(1);
        LlmDataDist decoder = clusters.decoder(2);
        Cache cache = decoder.allocateCache(CacheDesc.device(2, DataType.INT8, 1, 8)).orThrow();
        Clusters.link(decoder, prompt);
        assertThat(Clusters.eventually(() -> !prompt.links().isEmpty())).isTrue();
        Expect.ok(prompt.unlinkClusters(List.of(ClusterInfo.of(2))).overall());
        assertThat(Clusters.eventually(() -> decoder.links().isEmpty())).isTrue();
        Expect.failed(decoder.pullCache(new CacheIndex(1, 1), cache), LlmStatus.LLM_NOT_YET_LINK);
        Clusters.link(decoder, prompt);
    }

    @Test
    void an_unlink_with_another_address_is_refused() {
        LlmDataDist prompt = clusters.prompt(1);
        LlmDataDist decoder = clusters.decoder(2);
        Clusters.link(decoder, prompt);
        LinkResult result =
                decoder.unlinkClusters(List.of(ClusterInfo.of(1, "127.0.0.1", 1)), SHORT, false);
        Expect.failed(result.overall(), LlmStatus.LLM_UNLINK_FAILED);
        Expect.invalid(result.entries().getFirst(), "linked at");
        Expect.ok(decoder.checkLinkStatus(1));
    }

    @Test
    void a_peer_that_closes_takes_its_links_along() {
        LlmDataDist prompt = clusters.prompt(1);
        LlmDataDist decoder = clusters.decoder(2);
        Clusters.link(decoder, prompt);
        // Before that its own side of the handshake is still under way, and a close cuts it off.
        assertThat(Clusters.eventually(() -> states(prompt).equals(List.of(LinkState.ACTIVE))))
                .isTrue();
        prompt.close();
        assertThat(Clusters.eventually(() -> decoder.links().isEmpty())).isTrue();
    }

    @Test
    void a_peer_that_dies_breaks_the_link_and_cannot_be_told() throws IOException {
        ScriptedPrompt dying = new ScriptedPrompt(1);
        sockets.add(dying);
        LlmDataDist decoder = clusters.decoder(2);
        Expect.ok(decoder.linkClusters(List.of(dying.info()), Clusters.LONG).overall());
        dying.close();
        assertThat(Clusters.eventually(() -> states(decoder).equals(List.of(LinkState.BROKEN))))
                .isTrue();
        assertThat(decoder.whyBroken(1)).contains("connection lost");
        Cache cache = decoder.allocateCache(CacheDesc.device(2, DataType.INT8, 1, 8)).orThrow();
        Expect.failed(
                decoder.pullCache(new CacheIndex(1, 1), cache),
                LlmStatus.LLM_NOT_YET_LINK,
                "broken",
                "unlink and link again");
        LinkResult again = decoder.linkClusters(List.of(dying.info()), SHORT);
        Expect.failed(again.overall(), LlmStatus.LLM_ALREADY_LINK, "unlink it first");
        LinkResult first = decoder.unlinkClusters(List.of(dying.info()), SHORT, false);
        Expect.failed(first.overall(), LlmStatus.LLM_UNLINK_FAILED);
        Expect.failed(
                first.entries().getFirst(),
                LlmStatus.LLM_NOTIFY_PROMPT_UNLINK_FAILED,
                "this side is clean");
        assertThat(decoder.links()).isEmpty();
        LinkResult second = decoder.unlinkClusters(List.of(dying.info()), SHORT, false);
        Expect.ok(second.overall());
        Expect.failed(second.entries().getFirst(), LlmStatus.LLM_NOT_YET_LINK);
    }

    @Test
    void a_forced_unlink_tells_nobody() throws IOException {
        ScriptedPrompt dying = new ScriptedPrompt(1);
        sockets.add(dying);
        LlmDataDist decoder = clusters.decoder(2);
        Expect.ok(decoder.linkClusters(List.of(dying.info()), Clusters.LONG).overall());
        LinkResult result = decoder.unlinkClusters(List.of(dying.info()), SHORT, true);
        Expect.ok(result.overall());
        assertThat(result.statuses()).containsExactly(LlmStatus.LLM_SUCCESS);
        assertThat(dying.requests()).isEmpty();
        assertThat(decoder.links()).isEmpty();
    }

    @Test
    void a_peer_that_does_not_acknowledge_an_unlink_could_not_be_told() throws IOException {
        ScriptedPrompt deaf = new ScriptedPrompt(1);
        sockets.add(deaf);
        LlmDataDist decoder = clusters.decoder(2);
        Expect.ok(decoder.linkClusters(List.of(deaf.info()), Clusters.LONG).overall());
        long start = System.nanoTime();
        LinkResult result = decoder.unlinkClusters(List.of(deaf.info()), SHORT, false);
        assertEnded(start, SHORT);
        Expect.failed(
                result.entries().getFirst(),
                LlmStatus.LLM_NOTIFY_PROMPT_UNLINK_FAILED,
                "no answer");
        assertThat(decoder.links()).isEmpty();
    }

    @Test
    void a_peer_that_answers_an_unlink_with_an_error_makes_it_fail() throws IOException {
        ScriptedPrompt angry = new ScriptedPrompt(1);
        sockets.add(angry);
        angry.answerUnlinkWith(LlmStatus.LLM_FAILED);
        LlmDataDist decoder = clusters.decoder(2);
        Expect.ok(decoder.linkClusters(List.of(angry.info()), Clusters.LONG).overall());
        LinkResult result = decoder.unlinkClusters(List.of(angry.info()), SHORT, false);
        Expect.failed(
                result.entries().getFirst(), LlmStatus.LLM_UNLINK_FAILED, "answered with an error");
        assertThat(decoder.links()).isEmpty();
    }

    @Test
    void a_peer_whose_memory_cannot_be_reached_is_a_failed_link() throws IOException {
        ScriptedPrompt walled = new ScriptedPrompt(1);
        sockets.add(walled);
        walled.closeEngine();
        LlmDataDist decoder = clusters.decoder(2);
        LinkResult result = decoder.linkClusters(List.of(walled.info()), Clusters.LONG);
        Expect.failed(
                result.entries().getFirst(), LlmStatus.LLM_LINK_FAILED, "data port of the peer");
        assertThat(decoder.links()).isEmpty();
        assertThat(Clusters.eventually(() -> walled.requests().contains(ScriptedPrompt.UNLINK)))
                .isTrue();
    }

    @Test
    void a_silent_peer_breaks_the_link_after_some_heartbeats() throws IOException {
        ScriptedPrompt silent = new ScriptedPrompt(1);
        sockets.add(silent);
        LlmDataDist decoder =
                clusters.start(
                        2, LlmRole.DECODER, options -> options.heartbeat(Duration.ofMillis(60), 3));
        Expect.ok(decoder.linkClusters(List.of(silent.info()), Clusters.LONG).overall());
        assertThat(Clusters.eventually(() -> states(decoder).equals(List.of(LinkState.BROKEN))))
                .isTrue();
        assertThat(decoder.whyBroken(1)).contains("no sign of life");
    }

    @Test
    void an_idle_link_with_a_living_peer_stays() {
        LlmDataDist prompt = clusters.prompt(1);
        LlmDataDist decoder =
                clusters.start(
                        2, LlmRole.DECODER, options -> options.heartbeat(Duration.ofMillis(60), 3));
        Clusters.link(decoder, prompt);
        // Long enough for the silence to have broken it several times over.
        assertThat(Clusters.eventually(() -> decoder.links().getFirst().ageNanos() > 700_000_000L))
                .isTrue();
        assertThat(states(decoder)).containsExactly(LinkState.ACTIVE);
    }

    @Test
    void a_restarted_decoder_replaces_its_stale_link() throws IOException {
        LlmDataDist prompt = clusters.prompt(1);
        LlmDataDist first = clusters.decoder(2);
        Clusters.link(first, prompt);
        Expect.ok(first.unlinkClusters(List.of(Clusters.at(prompt)), SHORT, true).overall());
        LlmDataDist second = clusters.decoder(2);
        Clusters.link(second, prompt);
        Expect.ok(second.checkLinkStatus(1));
        assertThat(Clusters.eventually(() -> states(prompt).equals(List.of(LinkState.ACTIVE))))
                .isTrue();
    }

    @Test
    void a_second_living_instance_of_a_cluster_is_turned_away() {
        LlmDataDist prompt = clusters.prompt(1);
        LlmDataDist first = clusters.decoder(2);
        LlmDataDist second = clusters.decoder(2);
        Clusters.link(first, prompt);
        LinkResult result = second.linkClusters(List.of(Clusters.at(prompt)), Clusters.LONG);
        Expect.failed(result.entries().getFirst(), LlmStatus.LLM_ALREADY_LINK, "unique");
        Expect.ok(first.checkLinkStatus(1));
    }

    @Test
    void the_prompt_unlinks_a_dead_decoder_by_itself() {
        LlmDataDist prompt = clusters.prompt(1);
        LlmDataDist decoder = clusters.decoder(2);
        Clusters.link(decoder, prompt);
        assertThat(Clusters.eventually(() -> states(prompt).equals(List.of(LinkState.ACTIVE))))
                .isTrue();
        Expect.ok(decoder.unlinkClusters(List.of(ClusterInfo.of(1)), SHORT, true).overall());
        assertThat(Clusters.eventually(() -> states(prompt).equals(List.of(LinkState.BROKEN))))
                .isTrue();
        LinkResult result = prompt.unlinkClusters(List.of(ClusterInfo.of(2)));
        assertThat(result.statuses()).containsExactly(LlmStatus.LLM_SUCCESS);
        assertThat(prompt.links()).isEmpty();
    }

    @Test
    void the_places_for_links_are_limited() {
        LlmDataDist one = clusters.prompt(1);
        LlmDataDist three = clusters.prompt(3);
        LlmDataDist decoder = clusters.start(2, LlmRole.DECODER, options -> options.maxLinks(1));
        Clusters.link(decoder, one);
        LinkResult result = decoder.linkClusters(List.of(Clusters.at(three)), SHORT);
        Expect.failed(result.entries().getFirst(), LlmStatus.LLM_LINK_FAILED, "all 1 links");
    }

    @Test
    void two_clusters_that_dial_each_other_end_with_one_link() throws Exception {
        for (int round = 0; round < 10; round++) {
            try (Clusters pair = new Clusters()) {
                LlmDataDist a = free(pair, 1);
                LlmDataDist b = free(pair, 2);
                CompletableFuture<LinkResult> ab =
                        a.linkClustersAsync(List.of(Clusters.at(b)), Clusters.LONG);
                CompletableFuture<LinkResult> ba =
                        b.linkClustersAsync(List.of(Clusters.at(a)), Clusters.LONG);
                assertThat(List.of(ab.get().status(), ba.get().status()))
                        .containsAnyOf(LlmStatus.LLM_SUCCESS)
                        .isSubsetOf(LlmStatus.LLM_SUCCESS, LlmStatus.LLM_ALREADY_LINK);
                assertThat(
                                Clusters.eventually(
                                        () ->
                                                states(a).equals(List.of(LinkState.ACTIVE))
                                                        && states(b)
                                                                .equals(List.of(LinkState.ACTIVE))))
                        .isTrue();
                Expect.ok(a.checkLinkStatus(2));
                Expect.ok(b.checkLinkStatus(1));
            }
        }
    }

    @Test
    void a_broken_link_is_made_again_where_that_is_asked_for() {
        LlmDataDist prompt = clusters.prompt(1);
        LlmDataDist decoder =
                clusters.start(2, LlmRole.DECODER, options -> options.relinkTries(50));
        List<LinkInfo> seen = new CopyOnWriteArrayList<>();
        Expect.ok(decoder.addLinkListener(seen::add));
        Clusters.link(decoder, prompt);
        assertThat(Clusters.eventually(() -> !prompt.links().isEmpty())).isTrue();
        // The prompt drops its end without a word, as after a network failure.
        Expect.ok(prompt.unlinkClusters(List.of(ClusterInfo.of(2)), SHORT, true).overall());
        assertThat(Clusters.eventually(() -> seen.size() >= 3)).isTrue();
        assertThat(seen)
                .extracting(LinkInfo::state)
                .startsWith(LinkState.ACTIVE, LinkState.BROKEN, LinkState.ACTIVE);
        Expect.ok(decoder.checkLinkStatus(1));
    }

    private static LlmDataDist free(Clusters pair, long id) {
        return pair.start(
                id, LlmRole.DECODER, options -> options.roleGating(false).listen("127.0.0.1", 0));
    }

    private static List<LinkState> states(LlmDataDist cluster) {
        return cluster.links().stream().map(LinkInfo::state).toList();
    }

    private static void assertEnded(long startNanos, Duration timeout) {
        long took = System.nanoTime() - startNanos;
        assertThat(took).isBetween(timeout.toNanos() - 5_000_000, timeout.plus(SLACK).toNanos());
    }

    private static ServerSocket listener() throws IOException {
        return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    /** Accepts in the kernel, and nobody reads. */
    private ServerSocket hungPeer() throws IOException {
        ServerSocket hung = listener();
        sockets.add(hung);
        return hung;
    }

    private interface Script {
        void run(Socket socket) throws IOException;
    }

    private ServerSocket scripted(Script script) throws IOException {
        ServerSocket server = listener();
        sockets.add(server);
        Thread.ofPlatform()
                .daemon()
                .start(
                        () -> {
                            try {
                                script.run(server.accept());
                            } catch (IOException e) {
                                // The test has ended.
                            }
                        });
        return server;
    }
}
