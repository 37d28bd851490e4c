package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What callers do wrong is told by a code, harms no other key, and leaves nothing behind. */
class BadCallsTest {
    private static final ByteString KEY = ByteString.of("k");
    private static final ByteString OTHER = ByteString.of("other");

    private final Arena arena = Arena.ofShared();
    private final Cluster cluster = Cluster.start();
    private final StorageNode node = cluster.node(16 << 20);
    private final StoreClient client = cluster.client();

    @AfterEach
    void stop() {
        cluster.close();
        arena.close();
    }

    private static Code code(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed ? failed.code() : StoreCode.OK;
    }

    private static MemorySegment freed() {
        try (Arena gone = Arena.ofShared()) {
            return gone.allocate(1000);
        }
    }

    @Test
    void freed_memory_is_refused_for_its_key_alone_and_reserves_nothing() {
        MemorySegment value = arena.allocate(1000);
        assertThat(
                        client.putBatch(
                                List.of(KEY, OTHER), List.of(freed(), value), PutOptions.DEFAULT))
                .extracting(BadCallsTest::code)
                .containsExactly(StoreCode.INVALID_PARAMS, StoreCode.OK);
        assertThat(client.put(KEY, value, PutOptions.DEFAULT).isOk()).isTrue();
        assertThat(client.getBatch(List.of(KEY, OTHER), List.of(freed(), value)))
                .extracting(BadCallsTest::code)
                .containsExactly(StoreCode.INVALID_PARAMS, StoreCode.OK);
        assertThat(code(client.getRange(KEY, 1, freed().asSlice(1))))
                .isEqualTo(StoreCode.INVALID_PARAMS);
        try (WriteSession session =
                client.openWrite(ByteString.of("w"), 1000, PutOptions.DEFAULT).orThrow()) {
            assertThat(code(session.write(0, freed()))).isEqualTo(StoreCode.INVALID_PARAMS);
            assertThat(session.write(0, value).isOk()).isTrue();
            assertThat(session.commit().isOk()).isTrue();
        }
        assertThat(node.segments()).hasSize(1);
    }

    @Test
    void memory_of_another_thread_is_refused() throws Exception {
        try (Arena own = Arena.ofConfined()) {
            MemorySegment value = own.allocate(100_000);
            assertThat(client.put(KEY, value, PutOptions.DEFAULT).isOk()).isTrue();
            assertThat(client.get(KEY, value).isOk()).isTrue();
            assertThat(
                            code(
                                    client.async()
                                            .get(KEY, value)
                                            .toCompletableFuture()
                                            .get(20, TimeUnit.SECONDS)))
                    .isEqualTo(StoreCode.INVALID_PARAMS);
        }
    }

    @Test
    void numbers_below_their_least_are_refused() {
        MemorySegment value = arena.allocate(10);
        assertThat(code(client.put(KEY, value, PutOptions.DEFAULT.withReplicas(-1))))
                .isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(client.openWrite(KEY, 10, PutOptions.DEFAULT.withReplicas(-1))))
                .isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(client.openWrite(KEY, -1, PutOptions.DEFAULT)))
                .isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(client.list(ByteString.EMPTY, ByteString.EMPTY, -1)))
                .isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(client.exists(KEY)).isEqualTo(Outcome.ok(false));
    }

    @Test
    void call_of_a_closed_client_fails_at_once() {
        client.close();
        long began = Clock.system().nanos();
        assertThat(code(client.get(KEY, arena.allocate(10)))).isEqualTo(StoreCode.RPC_FAIL);
        assertThat(code(client.exists(KEY))).isEqualTo(StoreCode.RPC_FAIL);
        assertThat(Duration.ofNanos(Clock.system().nanos() - began))
                .isLessThan(StoreClientConfig.Calls.DEFAULT.retryTime());
    }

    @Test
    void what_was_never_sent_is_not_said_to_be_done_perhaps() {
        client.close();
        assertThat(client.remove(KEY, false).toString())
                .contains("not sent")
                .doesNotContain("it may have been done");
        assertThat(client.put(KEY, arena.allocate(10), PutOptions.DEFAULT).toString())
                .contains("not sent")
                .doesNotContain("may stay reserved");
    }
}
