package io.cassia.lab.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.DataDistOptions;
import io.cassia.datadist.LlmDataDist;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheKey;
import io.cassia.datadist.cache.DataType;
import io.cassia.datadist.exchange.TransferEvent;
import io.cassia.datadist.exchange.TransferOptions;
import io.cassia.datadist.exchange.TransferReport;
import io.cassia.datadist.link.ClusterInfo;
import io.cassia.datadist.link.LinkResult;
import io.cassia.datadist.link.LlmRole;
import io.cassia.lab.coverage.Coverage;
import io.cassia.lab.coverage.Covers;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.testkit.CrowdedPort;
import io.cassia.transfer.transport.Transport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What another process can do to a cluster, and what the cluster says then. */
class ClusterProcessTest {
    private static final Duration SHORT = Duration.ofMillis(500);
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final String SHAPE = "4 2 65536";
    private static final CacheDesc DESC = CacheDesc.device(4, DataType.INT8, 2, 65_536);

    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closeable : open.reversed()) {
            closeable.close();
        }
    }

    private ClusterProcess prompt(long id, String... options) throws IOException {
        ClusterProcess process = ClusterProcess.prompt(id, ClusterProcess.freePort(), options);
        open.add(process);
        return process;
    }

    private LlmDataDist decoder(Set<Transport> transports) {
        LlmDataDist decoder = new LlmDataDist(2, LlmRole.DECODER);
        open.add(decoder);
        decoder.initialize(
                        DataDistOptions.builder()
                                .dataHost("127.0.0.1")
                                .transports(transports)
                                .syncTimeout(LONG)
                                .build())
                .orThrow();
        return decoder;
    }

    private LlmDataDist decoder() {
        return decoder(EnumSet.allOf(Transport.class));
    }

    private static void link(LlmDataDist decoder, ClusterProcess prompt) {
        decoder.linkClusters(List.of(prompt.info()), LONG).overall().orThrow();
    }

    private static LinkResult unlink(LlmDataDist decoder, boolean force) {
        return decoder.unlinkClusters(List.of(ClusterInfo.of(1)), LONG, force);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "uds", "shm", "process-vm", "local,shm,process-vm,uds,tcp"})
    void caches_go_between_processes_over_every_transport(String transports) throws Exception {
        ClusterProcess prompt = prompt(1, "llm.DataTransports=" + transports);
        LlmDataDist decoder = new LlmDataDist(2, LlmRole.DECODER);
        open.add(decoder);
        decoder.initialize(
                        Map.of(
                                "llm.DeviceId", "0",
                                "llm.DataHost", "127.0.0.1",
                                "llm.SyncKvCacheWaitTime", "30000",
                                "llm.DataTransports", transports))
                .orThrow();
        link(decoder, prompt);
        long src = prompt.allocate(SHAPE + " 11 12");
        prompt.askOk("fill " + src + " 5");
        Cache dst = decoder.allocateCache(DESC).orThrow();
        decoder.pullCache(CacheKey.request(1, 12), dst, 0, TransferOptions.DEFAULT).orThrow();
        assertThat(Contents.sum(dst, 0)).isEqualTo(prompt.askOk("sum " + src + " 1"));
        prompt.askOk("push %d 0 2 %d 1 30000".formatted(src, dst.cacheId()));
        assertThat(Contents.sum(dst, 1)).isEqualTo(prompt.askOk("sum " + src + " 0"));
        // The receiver learns of the push without a side channel.
        assertThat(decoder.pollTransferEvents(10))
                .singleElement()
                .extracting(TransferEvent::outcome)
                .matches(outcome -> ((Outcome<?>) outcome).isOk());
        assertThat(unlink(decoder, false).overall().isOk()).isTrue();
        assertThat(prompt.exit()).isZero();
    }

    @Test
    @Covers(
            llm = LlmStatus.LLM_FAILED,
            scenario = "A cluster is to listen on a port that another process listens on.")
    void a_port_in_use(Coverage coverage) throws Exception {
        ClusterProcess prompt = prompt(1);
        try (LlmDataDist second = new LlmDataDist(3, LlmRole.PROMPT)) {
            coverage.expect(
                    second.initialize(
                            Map.of(
                                    "llm.DeviceId",
                                    "0",
                                    "llm.ListenIpInfo",
                                    "127.0.0.1:" + prompt.port())),
                    LlmStatus.LLM_FAILED);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "local,shm,process-vm,uds,tcp"})
    @Covers(
            llm = {LlmStatus.LLM_WAIT_PROC_TIMEOUT, LlmStatus.LLM_NOT_YET_LINK},
            scenario = "The prompt's process is stopped (SIGSTOP) and pulled from.")
    void a_stopped_prompt(String transports, Coverage coverage) throws Exception {
        ClusterProcess prompt = prompt(1, "llm.DataTransports=" + transports);
        LlmDataDist decoder =
                decoder(
                        transports.equals("tcp")
                                ? Set.of(Transport.TCP)
                                : EnumSet.allOf(Transport.class));
        link(decoder, prompt);
        long src = prompt.allocate(SHAPE);
        Cache dst = decoder.allocateCache(DESC).orThrow();
        CacheIndex source = new CacheIndex(1, src);
        decoder.pullCache(source, dst).orThrow();
        prompt.stop();
        TransferOptions quick = TransferOptions.DEFAULT.withTimeout(SHORT);
        coverage.expect(decoder.pullCache(source, dst, 0, quick), LlmStatus.LLM_WAIT_PROC_TIMEOUT);
        coverage.expect(decoder.pullCache(source, dst, 0, quick), LlmStatus.LLM_NOT_YET_LINK);
        assertThat(decoder.whyBroken(1)).contains("LLM_WAIT_PROC_TIMEOUT");
        prompt.resume();
        var _ = unlink(decoder, true);
        link(decoder, prompt);
        prompt.askOk("fill " + src + " 6");
        decoder.pullCache(source, dst).orThrow();
        assertThat(Contents.sum(dst, 0)).isEqualTo(prompt.askOk("sum " + src + " 0"));
    }

    @ParameterizedTest
    @EnumSource(names = {"TCP", "UDS"})
    @Covers(
            llm = {LlmStatus.LLM_TIMEOUT, LlmStatus.LLM_NOT_YET_LINK},
            scenario =
                    "The prompt's process is stopped (SIGSTOP) in the middle of the bytes of a"
                            + " pull.")
    void a_prompt_stopped_in_the_midst_of_its_bytes(Transport transport, Coverage coverage)
            throws Exception {
        ClusterProcess prompt = prompt(1, "llm.DataTransports=" + transport.label());
        LlmDataDist decoder = decoder(Set.of(transport));
        link(decoder, prompt);
        CacheDesc paged = CacheDesc.device(1, DataType.INT8, 16, 1 << 20);
        long src = prompt.allocate("1 16 1048576");
        prompt.askOk("fill " + src + " 5");
        CacheIndex source = new CacheIndex(1, src);
        Cache dst = decoder.allocateCache(paged).orThrow();
        MemorySegment bytes = dst.tensors().getFirst().fill((byte) 0);
        // The same blocks again and again, descending so that no two of them are one range.
        long[] blocks = new long[32 << 10];
        Arrays.setAll(blocks, i -> 15 - i % 16);
        Duration limit = Duration.ofSeconds(2);
        long start = System.nanoTime();
        CompletableFuture<Outcome<TransferReport>> pull =
                decoder.pullBlocksAsync(
                        source, dst, blocks, blocks, TransferOptions.DEFAULT.withTimeout(limit));
        MemorySegment arrived = bytes.asSlice(15 << 20, Long.BYTES);
        assertThat(Patience.until(() -> arrived.get(ValueLayout.JAVA_LONG, 0) != 0)).isTrue();
        prompt.stop();
        assertThat(pull.isDone()).isFalse();
        coverage.expect(pull.get(), LlmStatus.LLM_TIMEOUT);
        assertThat(System.nanoTime() - start)
                .isBetween(limit.toNanos(), limit.plusSeconds(1).toNanos());
        coverage.expect(decoder.pullCache(source, dst), LlmStatus.LLM_NOT_YET_LINK);
        assertThat(decoder.whyBroken(1)).contains("LLM_TIMEOUT");

        // The memory goes to somebody else before the prompt goes on.
        decoder.deallocateCache(dst).orThrow();
        Cache next = decoder.allocateCache(paged).orThrow();
        assertThat(next.tensors().getFirst().address()).isEqualTo(bytes.address());
        Contents.fill(next, 6);
        List<String> sums = sums(next);
        prompt.resume();
        var _ = unlink(decoder, true);
        link(decoder, prompt);
        Cache other = decoder.allocateCache(paged).orThrow();
        decoder.pullCache(source, other).orThrow();
        assertThat(Contents.sum(other, 0)).isEqualTo(prompt.askOk("sum " + src + " 0"));
        assertThat(sums(next)).isEqualTo(sums);
    }

    private static List<String> sums(Cache cache) {
        return IntStream.range(0, 16).mapToObj(batch -> Contents.sum(cache, batch)).toList();
    }

    @Test
    @Covers(
            llm = {LlmStatus.LLM_WAIT_PROC_TIMEOUT, LlmStatus.LLM_TIMEOUT},
            scenario =
                    "A prompt whose process is stopped is linked, and again when so many wait at"
                            + " its port that no connection comes to be.")
    void a_stopped_prompt_is_linked_in_vain_and_later_well(Coverage coverage) throws Exception {
        ClusterProcess prompt = prompt(1);
        LlmDataDist decoder = decoder();
        prompt.stop();
        List<ClusterInfo> info = List.of(prompt.info());
        coverage.expect(
                decoder.linkClusters(info, SHORT).entries().getFirst(),
                LlmStatus.LLM_WAIT_PROC_TIMEOUT);
        try (CrowdedPort crowded = CrowdedPort.at(prompt.port())) {
            long start = System.nanoTime();
            coverage.expect(
                    decoder.linkClusters(info, SHORT).entries().getFirst(), LlmStatus.LLM_TIMEOUT);
            assertThat(System.nanoTime() - start)
                    .isBetween(SHORT.toNanos(), SHORT.plusSeconds(1).toNanos());
            assertThat(crowded.port()).isEqualTo(prompt.port());
        }
        assertThat(decoder.links()).isEmpty();
        prompt.resume();
        // It finds a queue of those who have gone first.
        assertThat(Patience.until(() -> decoder.linkClusters(info, LONG).overall().isOk()))
                .isTrue();
        decoder.checkLinkStatus(1).orThrow();
    }

    @Test
    @Covers(
            llm = {
                LlmStatus.LLM_NOTIFY_PROMPT_UNLINK_FAILED,
                LlmStatus.LLM_UNLINK_FAILED,
                LlmStatus.LLM_NOT_YET_LINK
            },
            scenario = "The prompt's process is killed (kill -9), and the decoder unlinks from it.")
    void a_killed_prompt_cannot_be_told(Coverage coverage) throws Exception {
        ClusterProcess prompt = prompt(1);
        LlmDataDist decoder = decoder();
        link(decoder, prompt);
        prompt.kill();
        LinkResult told = unlink(decoder, false);
        coverage.expect(told.entries().getFirst(), LlmStatus.LLM_NOTIFY_PROMPT_UNLINK_FAILED);
        coverage.expect(told.overall(), LlmStatus.LLM_UNLINK_FAILED);
        assertThat(decoder.links()).isEmpty();
        LinkResult again = unlink(decoder, false);
        coverage.expect(again.entries().getFirst(), LlmStatus.LLM_NOT_YET_LINK);
        again.overall().orThrow();
    }

    @Test
    @Covers(
            llm = LlmStatus.LLM_SUCCESS,
            scenario =
                    "The prompt's process is killed (kill -9), and the decoder unlinks by force.")
    void a_killed_prompt_needs_not_be_told(Coverage coverage) throws Exception {
        ClusterProcess prompt = prompt(1);
        LlmDataDist decoder = decoder();
        link(decoder, prompt);
        prompt.kill();
        LinkResult forced = unlink(decoder, true);
        coverage.expect(forced.overall(), LlmStatus.LLM_SUCCESS);
        coverage.expect(forced.entries().getFirst(), LlmStatus.LLM_SUCCESS);
    }

    @Test
    @Covers(
            llm = LlmStatus.LLM_SUCCESS,
            scenario = "A decoder's process is killed and started anew with the same cluster id.")
    void a_killed_decoder_comes_back(Coverage coverage) throws Exception {
        LlmDataDist prompt = new LlmDataDist(1, LlmRole.PROMPT);
        open.add(prompt);
        prompt.initialize(
                        DataDistOptions.builder()
                                .dataHost("127.0.0.1")
                                .listen("127.0.0.1", 0)
                                .build())
                .orThrow();
        Cache src = prompt.allocateCache(DESC).orThrow();
        Contents.fill(src, 3);
        String link =
                "link 1 127.0.0.1 %d 10000".formatted(prompt.listenAddress().orElseThrow().port());
        for (int life = 0; life < 2; life++) {
            ClusterProcess decoder = ClusterProcess.decoder(2);
            open.add(decoder);
            decoder.askOk(link);
            long dst = decoder.allocate(SHAPE);
            decoder.askOk("pull 1 %d 1 %d 0 10000".formatted(src.cacheId(), dst));
            assertThat(decoder.askOk("sum " + dst + " 0")).isEqualTo(Contents.sum(src, 1));
            decoder.kill();
        }
        coverage.expect(prompt.deallocateCache(src), LlmStatus.LLM_SUCCESS);
        assertThat(prompt.links()).hasSizeLessThanOrEqualTo(1);
    }

    @Test
    void a_link_is_made_again_where_that_is_asked_for() throws Exception {
        int port = ClusterProcess.freePort();
        LlmDataDist decoder = new LlmDataDist(2, LlmRole.DECODER);
        open.add(decoder);
        decoder.initialize(
                        DataDistOptions.builder()
                                .dataHost("127.0.0.1")
                                .syncTimeout(LONG)
                                .relinkTries(10_000)
                                .build())
                .orThrow();
        ClusterProcess first = ClusterProcess.prompt(1, port);
        open.add(first);
        link(decoder, first);
        first.kill();
        ClusterProcess second = ClusterProcess.prompt(1, port);
        open.add(second);
        long src = second.allocate(SHAPE);
        Cache dst = decoder.allocateCache(DESC).orThrow();
        second.askOk("fill " + src + " 8");
        assertThat(Patience.until(() -> decoder.pullCache(new CacheIndex(1, src), dst).isOk()))
                .isTrue();
        assertThat(Contents.sum(dst, 0)).isEqualTo(second.askOk("sum " + src + " 0"));
    }
}
