package io.cassia.app.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.ByteArrayInputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReplayEngineTest {
    private static final ReplayOptions SMALL = new ReplayOptions(64, 1, 0);

    private static Trace trace(String... idLists) {
        String text =
                String.join(
                        "\n",
                        Stream.of(idLists).map(ids -> "{\"hash_ids\": [" + ids + "]}").toList());
        return TraceReader.read(
                        "test",
                        new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)),
                        Long.MAX_VALUE)
                .orThrow();
    }

    private static ReplayReport run(Trace trace, BlockStore store) {
        return run(trace, SMALL, store);
    }

    private static ReplayReport run(Trace trace, ReplayOptions options, BlockStore... stores) {
        return ReplayEngine.run(
                trace,
                options,
                List.of(stores),
                Clock.system(),
                Pause.real(),
                ReplayEngine.Progress.NONE);
    }

    /** Delegates, with single calls to override. */
    private abstract static class Wrapped implements BlockStore {
        final FakeStore store = FakeStore.unbounded();

        @Override
        public List<Outcome<Long>> getPrefix(List<ByteString> keys, List<MemorySegment> into) {
            return store.getPrefix(keys, into);
        }

        @Override
        public List<Outcome<Done>> putBatch(List<ByteString> keys, List<MemorySegment> values) {
            return store.putBatch(keys, values);
        }

        @Override
        public Outcome<Long> evictedObjects() {
            return store.evictedObjects();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "conversation_trace.jsonl, 12031, 288500, 105710",
        "synthetic_trace.jsonl,     3993, 121877,  77953"
    })
    void with_memory_for_everything_the_hits_of_the_public_traces_are_exact(
            String file, long requests, long blocks, long hits) {
        ReplayReport report = run(publicTrace(file), FakeStore.unbounded());
        assertThat(report.requests()).isEqualTo(requests);
        assertThat(report.blocks()).isEqualTo(blocks);
        assertThat(report.hits()).isEqualTo(hits);
        assertThat(report.bytesRead()).isEqualTo(64 * hits);
        assertThat(report.bytesWritten()).isEqualTo(64 * (blocks - hits));
        assertThat(report.verificationErrors()).isZero();
        assertThat(report.failures()).isZero();
        assertThat(report.evictions()).hasValue(0);
    }

    @ParameterizedTest
    @CsvSource({"3000, 0.0653", "10000, 0.2116", "30000, 0.3257"})
    void with_plain_lru_the_hit_ratio_is_that_of_the_literature(int capacity, double ratio) {
        ReplayReport report = run(publicTrace("conversation_trace.jsonl"), new FakeStore(capacity));
        assertThat(report.hitRatio()).isCloseTo(ratio, within(0.0005));
        assertThat(report.verificationErrors()).isZero();
        assertThat(report.evictions().orElse(0)).isPositive();
    }

    private static Trace publicTrace(String name) {
        Path file = Path.of(System.getProperty("cassia.shared", "absent"), "traces", name);
        Assumptions.assumeTrue(Files.exists(file), file + " is not here");
        return TraceReader.read(List.of(file), Long.MAX_VALUE).orThrow();
    }

    @Test
    void a_block_is_a_hit_only_when_all_before_it_are() {
        ReplayReport report =
                run(trace("1, 2, 3", "1, 2, 9, 3", "1, 7, 2", "2, 1"), FakeStore.unbounded());
        assertThat(report.hits()).isEqualTo(2 + 1 + 2);
        assertThat(report.blocks()).isEqualTo(12);
        assertThat(report.alreadyStored()).isEqualTo(2);
        assertThat(report.bytesWritten()).isEqualTo(64 * 5);
        assertThat(report.get().calls()).isEqualTo(4);
        assertThat(report.put().calls()).isEqualTo(3);
    }

    @Test
    void a_block_that_a_request_names_twice_is_stored_once() {
        ReplayReport report = run(trace("5, 5, 6", "5, 5, 6"), FakeStore.unbounded());
        assertThat(report.hits()).isEqualTo(3);
        assertThat(report.alreadyStored()).isEqualTo(1);
        assertThat(report.failures()).isZero();
    }

    @Test
    void a_wrong_byte_is_found_and_told_with_its_place() {
        FakeStore store = FakeStore.unbounded();
        assertThat(run(trace("1, 2"), store).verificationErrors()).isZero();
        store.block("replay-64-1/0000000000000002")[33] ^= 4;
        ReplayReport report = run(trace("1, 2"), store);
        assertThat(report.verificationErrors()).isEqualTo(1);
        assertThat(report.hits()).isEqualTo(1);
        assertThat(report.wrongBlocks())
                .singleElement()
                .asString()
                .matches(
                        "key replay-64-1/0000000000000002: byte 33 is 0x[0-9a-f]{2}, expected"
                                + " 0x[0-9a-f]{2}");
    }

    @Test
    void a_block_of_another_size_is_wrong() {
        FakeStore store = FakeStore.unbounded();
        assertThat(run(trace("1"), store).failures()).isZero();
        store.blocks().put(ByteString.of("replay-64-1/0000000000000001"), new byte[7]);
        assertThat(run(trace("1"), store).wrongBlocks())
                .containsExactly("key replay-64-1/0000000000000001: 7 bytes, expected 64");
    }

    @Test
    void a_lost_block_is_a_miss_and_is_stored_again() {
        AtomicLong calls = new AtomicLong();
        BlockStore losing =
                new Wrapped() {
                    @Override
                    public List<Outcome<Long>> getPrefix(
                            List<ByteString> keys, List<MemorySegment> into) {
                        List<Outcome<Long>> read = super.getPrefix(keys, into);
                        if (calls.incrementAndGet() == 2) {
                            read.set(1, Outcome.failed(StoreCode.TRANSFER_FAIL, "node gone"));
                            store.blocks().remove(keys.get(1));
                        }
                        return read;
                    }
                };
        ReplayReport report = run(trace("1, 2, 3", "1, 2, 3", "1, 2, 3"), losing);
        assertThat(report.hits()).isEqualTo(1 + 3);
        assertThat(report.failures()).isEqualTo(1);
        assertThat(report.failuresByCode()).isEqualTo(Map.of("TRANSFER_FAIL", 1L));
        assertThat(report.failureExamples()).isEqualTo(Map.of("TRANSFER_FAIL", "node gone"));
        assertThat(report.bytesWritten()).isEqualTo(64 * 4);
    }

    @Test
    void a_refused_block_is_counted_by_code_and_the_run_goes_on() {
        BlockStore full =
                new Wrapped() {
                    @Override
                    public List<Outcome<Done>> putBatch(
                            List<ByteString> keys, List<MemorySegment> values) {
                        return Collections.nCopies(
                                keys.size(), Outcome.failed(StoreCode.NO_AVAILABLE_HANDLE, "full"));
                    }
                };
        ReplayReport report = run(trace("1, 2", "3"), full);
        assertThat(report.requests()).isEqualTo(2);
        assertThat(report.failuresByCode()).isEqualTo(Map.of("NO_AVAILABLE_HANDLE", 3L));
        assertThat(report.stopped()).isEmpty();
    }

    @Test
    void a_store_that_does_not_answer_ends_the_run_after_ten_seconds_of_waiting() {
        AtomicLong nanos = new AtomicLong();
        BlockStore dead =
                new Wrapped() {
                    @Override
                    public List<Outcome<Long>> getPrefix(
                            List<ByteString> keys, List<MemorySegment> into) {
                        return Collections.nCopies(
                                keys.size(), Outcome.failed(StoreCode.RPC_FAIL, "no master"));
                    }

                    @Override
                    public List<Outcome<Done>> putBatch(
                            List<ByteString> keys, List<MemorySegment> values) {
                        return Collections.nCopies(
                                keys.size(), Outcome.failed(StoreCode.RPC_FAIL, "no master"));
                    }

                    @Override
                    public Outcome<Long> evictedObjects() {
                        return Outcome.failed(StoreCode.RPC_FAIL, "no master");
                    }
                };
        String[] requests = Collections.nCopies(1000, "1").toArray(String[]::new);
        ReplayReport report =
                ReplayEngine.run(
                        trace(requests),
                        SMALL,
                        List.of(dead),
                        new FakeClock(nanos),
                        nanos::addAndGet,
                        ReplayEngine.Progress.NONE);
        assertThat(report.requests()).isEqualTo(201);
        assertThat(report.stopped().orElseThrow()).contains("did not answer for 10 s");
        assertThat(report.evictions()).isEqualTo(OptionalLong.empty());
        assertThat(report.seconds()).isEqualTo(10.0);
    }

    private record FakeClock(AtomicLong now) implements Clock {
        @Override
        public long nanos() {
            return now.get();
        }

        @Override
        public long epochMillis() {
            return now.get() / 1_000_000;
        }
    }

    @Test
    void a_request_longer_than_a_window_is_run_in_parts() {
        int blockBytes = 16 << 20;
        ReplayOptions big = new ReplayOptions(blockBytes, 0, 0);
        ReplayReport report =
                run(trace("1, 2, 3, 4, 5", "1, 2, 3, 4, 5, 6"), big, FakeStore.unbounded());
        assertThat(report.hits()).isEqualTo(5);
        assertThat(report.bytesWritten()).isEqualTo(6L * blockBytes);
        assertThat(report.get().calls()).isEqualTo(2 + 1);
    }

    @Test
    void a_paced_run_issues_each_request_at_its_time() {
        AtomicLong nanos = new AtomicLong(7);
        List<Long> times = Collections.synchronizedList(new ArrayList<>());
        BlockStore timed =
                new Wrapped() {
                    @Override
                    public List<Outcome<Long>> getPrefix(
                            List<ByteString> keys, List<MemorySegment> into) {
                        times.add(nanos.get() - 7);
                        return super.getPrefix(keys, into);
                    }
                };
        Trace trace =
                TraceReader.read(
                                "t",
                                new ByteArrayInputStream(
                                        """
                                        {"timestamp": 0, "hash_ids": [1]}
                                        {"timestamp": 1000, "hash_ids": [1]}
                                        {"timestamp": 4000, "hash_ids": [1]}
                                        """
                                                .getBytes(StandardCharsets.UTF_8)),
                                9)
                        .orThrow();
        ReplayReport report =
                ReplayEngine.run(
                        trace,
                        new ReplayOptions(8, 0, 2.0),
                        List.of(timed),
                        new FakeClock(nanos),
                        nanos::addAndGet,
                        ReplayEngine.Progress.NONE);
        assertThat(times).containsExactly(0L, 500_000_000L, 2_000_000_000L);
        assertThat(report.seconds()).isEqualTo(2.0);
    }

    @Test
    void several_clients_share_the_requests() {
        FakeStore store = FakeStore.unbounded();
        AtomicLong done = new AtomicLong();
        Trace trace = ConversationWorkload.trace(11, 3000);
        ReplayReport report =
                ReplayEngine.run(
                        trace,
                        SMALL,
                        List.of(store, store, store),
                        Clock.system(),
                        Pause.real(),
                        done::incrementAndGet);
        assertThat(done).hasValue(3000);
        assertThat(report.requests()).isEqualTo(3000);
        assertThat(report.blocks()).isEqualTo(trace.blocks());
        assertThat(report.bytesWritten()).isEqualTo(64L * trace.distinctBlocks());
        assertThat(report.verificationErrors()).isZero();
        assertThat(report.hits()).isGreaterThan(trace.blocks() / 2);
        assertThat(store.blocks()).hasSize(trace.distinctBlocks());
    }

    @Test
    void a_defect_in_a_client_ends_the_run_and_is_not_hidden() {
        BlockStore broken =
                new Wrapped() {
                    @Override
                    public List<Outcome<Done>> putBatch(
                            List<ByteString> keys, List<MemorySegment> values) {
                        throw new IllegalStateException("bug");
                    }
                };
        assertThatThrownBy(() -> run(trace("1"), broken))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("bug");
    }

    @Test
    void keys_tell_seed_and_block_size_apart() {
        FakeStore store = FakeStore.unbounded();
        List.of(
                        run(trace("1"), new ReplayOptions(64, 1, 0), store),
                        run(trace("1"), new ReplayOptions(64, 255, 0), store),
                        run(trace("1"), new ReplayOptions(32, 1, 0), store),
                        run(trace("-1"), new ReplayOptions(32, 1, 0), store))
                .forEach(report -> assertThat(report.hits()).isZero());
        assertThat(store.blocks().keySet())
                .extracting(ByteString::text)
                .containsExactlyInAnyOrder(
                        "replay-64-1/0000000000000001",
                        "replay-64-ff/0000000000000001",
                        "replay-32-1/0000000000000001",
                        "replay-32-1/ffffffffffffffff");
        byte[] block = store.block("replay-64-ff/0000000000000001");
        assertThat(MemorySegment.ofArray(block).get(ValueLayout.JAVA_BYTE, 63))
                .isEqualTo(BlockContent.expected(BlockContent.base(255, 1), 63));
    }
}
