package io.cassia.transfer.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.testkit.ServiceProcess;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class PublicationTest {
    private static final String ENDPOINT_KEY = "mooncake/rpc_meta/node";
    private static final String SEGMENT_KEY = "mooncake/ram/node";
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final MetadataOptions OPTIONS =
            MetadataOptions.DEFAULT.withHeartbeat(Duration.ofMillis(5), Duration.ofSeconds(1));

    /** A store in memory that can be made to fail. */
    private static final class FakeStore implements MetadataStore {
        final Map<String, String> entries = new ConcurrentHashMap<>();
        final List<String> log = new CopyOnWriteArrayList<>();
        volatile boolean down;
        volatile String refusedKey = "";

        private <T> Outcome<T> run(String call, String key, T value) {
            log.add(call + " " + key);
            return down || key.equals(refusedKey)
                    ? Outcome.failed(TransferCode.ERR_METADATA, call + " " + key + ": down")
                    : Outcome.ok(value);
        }

        @Override
        public Outcome<Optional<String>> find(String key, Duration timeout) {
            return run("find", key, Optional.ofNullable(entries.get(key)));
        }

        @Override
        public Outcome<Done> put(String key, String value) {
            return run("put", key, Done.DONE).map(done -> put(key, value, done));
        }

        private Done put(String key, String value, Done done) {
            entries.put(key, value);
            return done;
        }

        @Override
        public Outcome<Done> keep(String key, String value) {
            return run("keep", key, Done.DONE).map(done -> put(key, value, done));
        }

        @Override
        public Outcome<Done> remove(String key) {
            Outcome<Done> outcome = run("remove", key, Done.DONE);
            if (outcome.isOk()) {
                entries.remove(key);
            }
            return outcome;
        }

        @Override
        public void close() {}
    }

    private final FakeStore store = new FakeStore();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final AtomicReference<String> descriptor = new AtomicReference<>("{\"v\":1}");

    private Publication publication(long incarnation) {
        return new Publication(
                store, OPTIONS, "node", endpoint(incarnation), descriptor::get, meters);
    }

    private static RpcMeta endpoint(long incarnation) {
        return new RpcMeta("host", 1, OptionalLong.of(incarnation));
    }

    private static String text(long incarnation) {
        return DescriptorCodec.encode(endpoint(incarnation));
    }

    private double count(String result) {
        return meters.get("cassia.metadata.heartbeats").tag("result", result).counter().count();
    }

    private void awaitCount(String result, double atLeast) {
        assertThat(ServiceProcess.pollUntil(() -> count(result) >= atLeast, LIMIT))
                .as("%s heartbeats", result)
                .isTrue();
    }

    @Test
    void the_endpoint_is_written_before_the_segment_and_removed_before_it() {
        try (Publication publication = publication(5)) {
            assertThat(publication.publish()).isEqualTo(Outcome.done());
            assertThat(store.entries)
                    .containsOnly(
                            Map.entry(ENDPOINT_KEY, text(5)), Map.entry(SEGMENT_KEY, "{\"v\":1}"));
        }
        assertThat(store.entries).isEmpty();
        assertThat(store.log.subList(0, 2))
                .containsExactly("put " + ENDPOINT_KEY, "put " + SEGMENT_KEY);
        assertThat(store.log.subList(store.log.size() - 2, store.log.size()))
                .containsExactly("remove " + ENDPOINT_KEY, "remove " + SEGMENT_KEY);
    }

    @Test
    void a_heartbeat_keeps_both_entries_without_encoding_again() {
        try (Publication publication = publication(5)) {
            assertThat(publication.publish().isOk()).isTrue();
            descriptor.set("{\"v\":\"never published\"}");
            awaitCount("kept", 3);
            assertThat(store.entries).containsEntry(SEGMENT_KEY, "{\"v\":1}");
            assertThat(publication.publish().isOk()).isTrue();
            assertThat(store.entries).containsEntry(SEGMENT_KEY, descriptor.get());
        }
    }

    @Test
    void what_a_store_lost_is_written_again() {
        try (Publication publication = publication(5)) {
            assertThat(publication.publish().isOk()).isTrue();
            store.entries.clear();
            awaitCount("rewritten", 1);
            assertThat(store.entries).containsKeys(ENDPOINT_KEY, SEGMENT_KEY);
        }
    }

    @Test
    void a_segment_that_was_tampered_with_is_put_right() {
        try (Publication publication = publication(5)) {
            assertThat(publication.publish().isOk()).isTrue();
            store.entries.put(SEGMENT_KEY, "planted");
            assertThat(
                            ServiceProcess.pollUntil(
                                    () -> "{\"v\":1}".equals(store.entries.get(SEGMENT_KEY)),
                                    LIMIT))
                    .isTrue();
        }
    }

    @Test
    void entries_of_a_predecessor_or_a_plant_are_overwritten_and_never_read() {
        store.entries.put(SEGMENT_KEY, "{\"v\":\"planted\"}");
        store.entries.put(ENDPOINT_KEY, text(99));
        try (Publication publication = publication(5)) {
            assertThat(publication.publish().isOk()).isTrue();
            assertThat(store.log).noneMatch(call -> call.equals("find " + SEGMENT_KEY));
            assertThat(store.entries).containsEntry(SEGMENT_KEY, "{\"v\":1}");
            for (String planted :
                    List.of(text(4), "{\"ip_or_host_name\":\"x\",\"rpc_port\":1}", "no\njson\"")) {
                double before = count("overwritten");
                // A heartbeat that was just writing covers a plant without having seen it: again.
                boolean seen =
                        ServiceProcess.pollUntil(
                                () -> {
                                    boolean overwritten = count("overwritten") > before;
                                    if (!overwritten) {
                                        store.entries.put(ENDPOINT_KEY, planted);
                                    }
                                    return overwritten;
                                },
                                LIMIT);
                assertThat(seen).as("overwritten: %s", planted).isTrue();
                assertThat(
                                ServiceProcess.pollUntil(
                                        () -> text(5).equals(store.entries.get(ENDPOINT_KEY)),
                                        LIMIT))
                        .isTrue();
            }
            assertThat(publication.state()).isEqualTo(Publication.State.PUBLISHED);
        }
    }

    @Test
    void an_engine_whose_name_was_taken_stops_writing_and_removes_nothing() {
        try (Publication later = publication(6)) {
            try (Publication older = publication(5)) {
                assertThat(older.publish().isOk()).isTrue();
                assertThat(later.publish().isOk()).isTrue();
                awaitCount("superseded", 1);
                assertThat(older.state()).isEqualTo(Publication.State.SUPERSEDED);
                assertThat(older.publish())
                        .isInstanceOfSatisfying(
                                Outcome.Failed.class,
                                failed -> {
                                    assertThat(failed.code()).isEqualTo(TransferCode.ERR_METADATA);
                                    assertThat(failed.detail()).contains("a later engine");
                                });
            }
            assertThat(store.entries).containsEntry(ENDPOINT_KEY, text(6));
            assertThat(later.state()).isEqualTo(Publication.State.PUBLISHED);
        }
    }

    @Test
    void a_later_engine_wins_whatever_order_they_write_in() {
        try (Publication later = publication(6);
                Publication older = publication(5)) {
            assertThat(later.publish().isOk()).isTrue();
            assertThat(older.publish().isOk()).isTrue();
            awaitCount("superseded", 1);
            assertThat(older.state()).isEqualTo(Publication.State.SUPERSEDED);
            assertThat(later.state()).isEqualTo(Publication.State.PUBLISHED);
            assertThat(store.entries).containsEntry(ENDPOINT_KEY, text(6));
        }
    }

    @Test
    void a_store_that_is_down_is_tried_at_every_heartbeat() {
        try (Publication publication = publication(5)) {
            assertThat(publication.publish().isOk()).isTrue();
            store.down = true;
            awaitCount("failed", 3);
            store.entries.clear();
            store.down = false;
            awaitCount("rewritten", 1);
            assertThat(store.entries).containsKeys(ENDPOINT_KEY, SEGMENT_KEY);
        }
    }

    @Test
    void a_change_that_could_not_be_published_is_published_by_a_heartbeat() {
        try (Publication publication = publication(5)) {
            assertThat(publication.publish().isOk()).isTrue();
            store.refusedKey = SEGMENT_KEY;
            descriptor.set("{\"v\":2}");
            assertThat(publication.publish().isOk()).isFalse();
            assertThat(store.entries).containsEntry(SEGMENT_KEY, "{\"v\":1}");
            store.refusedKey = "";
            awaitCount("rewritten", 1);
            assertThat(store.entries).containsEntry(SEGMENT_KEY, "{\"v\":2}");
        }
    }

    @Test
    void a_first_publication_that_fails_starts_no_heartbeat() {
        try (Publication publication = publication(5)) {
            store.down = true;
            assertThat(publication.publish().isOk()).isFalse();
            assertThat(publication.state()).isEqualTo(Publication.State.NEW);
            store.down = false;
            assertThat(publication.publish().isOk()).isTrue();
        }
    }

    @Test
    void a_closed_publication_writes_nothing_more() {
        Publication publication = publication(5);
        try (publication) {
            assertThat(publication.publish().isOk()).isTrue();
        }
        assertThat(publication.publish().isOk()).isFalse();
        assertThat(store.entries).isEmpty();
        assertThat(publication.state()).isEqualTo(Publication.State.CLOSED);
    }
}
