package io.cassia.rpc;

import static io.cassia.rpc.Eventually.count;
import static io.cassia.rpc.Eventually.counted;
import static io.cassia.rpc.Eventually.until;
import static io.cassia.rpc.mooncake.MasterMethods.BATCH_EXIST_KEY;
import static io.cassia.rpc.mooncake.MasterMethods.EXIST_KEY;
import static io.cassia.rpc.mooncake.MasterMethods.SERVICE_READY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.base.ByteString;
import io.cassia.rpc.RawPeer.Frame;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.pack.Packed;
import io.cassia.rpc.pack.WireBody;
import io.cassia.rpc.pack.WireReader;
import io.cassia.rpc.pack.WireType;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.testkit.Seeds;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.cumulative.CumulativeCounter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The server over real sockets, against peers that behave and peers that do not. */
class RpcServerTest {
    private static final String CLOSED = "cassia.rpc.server.closed";
    private static final String REJECTED = "cassia.rpc.server.rejected";
    private static final ByteString TENANT = ByteString.of("default");
    private static final Args.Key KEY = new Args.Key(ByteString.of("k"), TENANT);

    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();

    private RpcServer.Builder exist() {
        return RpcServer.builder(metrics)
                .register(EXIST_KEY, key -> Outcome.ok(key.key().length() % 2 == 1))
                .register(SERVICE_READY, _ -> Outcome.ok("2.0.0"));
    }

    private static String message(Frame frame) {
        return Packed.read(WireBody.of(WireType.STRING), frame.body());
    }

    @Test
    void a_frame_may_arrive_byte_by_byte() throws Exception {
        try (RpcServer server = exist().start().orThrow();
                RawPeer peer = RawPeer.to(server)) {
            for (byte each : RawPeer.request(3, EXIST_KEY, KEY)) {
                peer.send(new byte[] {each});
            }
            assertThat(peer.readResponse().result(EXIST_KEY)).isEqualTo(Outcome.ok(true));
        }
    }

    @Test
    void pipelined_requests_are_handled_within_the_gate_and_answered_in_order() throws Exception {
        AtomicInteger entered = new AtomicInteger();
        AtomicInteger exited = new AtomicInteger();
        BatchGate gate =
                new BatchGate() {
                    @Override
                    public void enter() {
                        entered.incrementAndGet();
                    }

                    @Override
                    public void exit() {
                        exited.incrementAndGet();
                    }
                };
        RpcServer.Builder builder =
                RpcServer.builder(metrics)
                        .gate(gate)
                        .register(EXIST_KEY, _ -> Outcome.ok(entered.get() == exited.get() + 1));
        int requests = 2000;
        try (RpcServer server = builder.start().orThrow();
                RawPeer peer = RawPeer.to(server)) {
            byte[][] frames = new byte[requests][];
            for (int i = 0; i < requests; i++) {
                frames[i] = RawPeer.request(i, EXIST_KEY, KEY);
            }
            peer.send(concatenated(frames));
            for (int i = 0; i < requests; i++) {
                Frame frame = peer.readResponse();
                assertThat(frame.sequence()).isEqualTo(i);
                assertThat(frame.result(EXIST_KEY)).isEqualTo(Outcome.ok(true));
            }
        }
        assertThat(entered).hasValue(exited.get());
        assertThat(entered.get()).isLessThan(requests / 4);
        assertThat(
                        metrics.get("cassia.rpc.server.requests")
                                .tag("method", "ExistKey")
                                .counter()
                                .count())
                .isEqualTo(requests);
    }

    private static byte[] concatenated(byte[][] frames) {
        int length = 0;
        for (byte[] frame : frames) {
            length += frame.length;
        }
        byte[] all = new byte[length];
        int at = 0;
        for (byte[] frame : frames) {
            System.arraycopy(frame, 0, all, at, frame.length);
            at += frame.length;
        }
        return all;
    }

    @Test
    void a_handler_that_throws_fails_its_own_call_only() throws Exception {
        RpcServer.Builder builder =
                exist().register(
                                BATCH_EXIST_KEY,
                                _ -> {
                                    throw new IllegalStateException("boom");
                                });
        try (RpcServer server = builder.start().orThrow();
                RawPeer peer = RawPeer.to(server)) {
            Args.Keys keys = new Args.Keys(List.of(), TENANT);
            peer.send(
                    RawPeer.request(1, BATCH_EXIST_KEY, keys), RawPeer.request(2, EXIST_KEY, KEY));
            Frame failed = peer.readResponse();
            assertThat(failed.error()).isEqualTo(10);
            assertThat(message(failed)).contains("BatchExistKey").contains("boom");
            assertThat(peer.readResponse().result(EXIST_KEY)).isEqualTo(Outcome.ok(true));
            assertThat(count(metrics, REJECTED, "reason", "handler_exception")).isEqualTo(1);
        }
    }

    @Test
    void a_result_that_cannot_be_encoded_fails_its_own_call_only() throws Exception {
        RpcServer.Builder builder =
                exist().register(
                                BATCH_EXIST_KEY, _ -> Collections.nCopies(40_000, Outcome.ok(true)))
                        .limits(ServerLimits.DEFAULT.withMaxBodyBytes(4096));
        try (RpcServer server = builder.start().orThrow();
                RawPeer peer = RawPeer.to(server)) {
            Args.Keys keys = new Args.Keys(List.of(), TENANT);
            peer.send(
                    RawPeer.request(1, BATCH_EXIST_KEY, keys), RawPeer.request(2, EXIST_KEY, KEY));
            Frame failed = peer.readResponse();
            assertThat(failed.error()).isEqualTo(14);
            assertThat(message(failed)).contains("4096");
            assertThat(peer.readResponse().result(EXIST_KEY)).isEqualTo(Outcome.ok(true));
            assertThat(count(metrics, REJECTED, "reason", "result_too_large")).isEqualTo(1);
        }
    }

    @Test
    void a_body_over_the_limit_is_refused_and_the_connection_closed() throws Exception {
        RpcServer.Builder builder = exist().limits(ServerLimits.DEFAULT.withMaxBodyBytes(4096));
        try (RpcServer server = builder.start().orThrow();
                RawPeer peer = RawPeer.to(server)) {
            byte[] request =
                    RawPeer.request(9, EXIST_KEY.functionId(), new byte[100_000], new byte[0]);
            peer.send(RawPeer.request(8, EXIST_KEY, KEY), request);
            assertThat(peer.readResponse().sequence()).isEqualTo(8);
            Frame refused = peer.readResponse();
            assertThat(refused.sequence()).isEqualTo(9);
            assertThat(refused.error()).isEqualTo(14);
            assertThat(message(refused)).contains("100000").contains("4096");
            assertThat(peer.isClosedByPeer()).isTrue();
            counted(metrics, CLOSED, "reason", "message_too_large");
        }
    }

    @Test
    void an_absurd_length_takes_no_memory() throws Exception {
        try (RpcServer server = exist().start().orThrow()) {
            for (int at : new int[] {FrameLayout.REQUEST_BODY, FrameLayout.REQUEST_ATTACHMENT}) {
                for (int length : new int[] {-1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
                    try (RawPeer peer = RawPeer.to(server)) {
                        byte[] request = RawPeer.request(1, EXIST_KEY, KEY);
                        LittleEndian.i32(request, at, length);
                        peer.send(request);
                        assertThat(peer.readResponse().error()).isEqualTo(14);
                    }
                }
            }
        }
    }

    @Test
    void a_large_body_within_the_limit_is_taken_whole() throws Exception {
        RpcServer.Builder builder =
                exist().register(
                                BATCH_EXIST_KEY,
                                keys ->
                                        keys.keys().stream()
                                                .map(key -> Outcome.ok(key.length() == 1000))
                                                .toList());
        try (RpcServer server = builder.start().orThrow();
                RawPeer peer = RawPeer.to(server)) {
            List<ByteString> keys =
                    new ArrayList<>(Collections.nCopies(5000, ByteString.wrap(new byte[1000])));
            keys.set(4999, ByteString.EMPTY);
            for (int i = 0; i < 2; i++) {
                peer.send(RawPeer.request(i, BATCH_EXIST_KEY, new Args.Keys(keys, TENANT)));
                List<Outcome<Boolean>> result = peer.readResponse().result(BATCH_EXIST_KEY);
                assertThat(result).hasSize(5000);
                assertThat(result.getFirst()).isEqualTo(Outcome.ok(true));
                assertThat(result.getLast()).isEqualTo(Outcome.ok(false));
            }
        }
    }

    @Test
    void a_handler_sees_the_attachment_and_may_answer_with_one() throws Exception {
        RpcServer.Builder builder =
                RpcServer.builder(metrics)
                        .registerWithContext(
                                EXIST_KEY,
                                (_, context) -> {
                                    context.request()
                                            .find(40)
                                            .ifPresent(content -> context.respond(41, content));
                                    return Outcome.ok(context.peer().toString().contains("127"));
                                });
        try (RpcServer server = builder.start().orThrow();
                RpcClient client = RpcClient.builder("127.0.0.1", server.port(), metrics).build()) {
            Attachment attachment = Attachment.NONE.with(40, ByteString.of("hello"));
            Reply<Outcome<Boolean>> reply =
                    client.exchange(EXIST_KEY, KEY, attachment, Duration.ofSeconds(10)).orThrow();
            assertThat(reply.result()).isEqualTo(Outcome.ok(true));
            assertThat(reply.attachment().find(41)).contains(ByteString.of("hello"));
            reply =
                    client.exchange(EXIST_KEY, KEY, Attachment.NONE, Duration.ofSeconds(10))
                            .orThrow();
            assertThat(reply.attachment()).isEqualTo(Attachment.NONE);
        }
    }

    @Test
    void a_malformed_attachment_is_left_out_and_counted() throws Exception {
        try (RpcServer server = exist().start().orThrow();
                RawPeer peer = RawPeer.to(server)) {
            byte[] body = Packed.withLiteral(EXIST_KEY.arguments(), KEY);
            for (String attachment : List.of("00", "43534131 01", "43534131 0100 ffffffff")) {
                peer.send(
                        RawPeer.request(1, EXIST_KEY.functionId(), body, Packed.bytes(attachment)));
                assertThat(peer.readResponse().result(EXIST_KEY)).isEqualTo(Outcome.ok(true));
            }
            assertThat(count(metrics, REJECTED, "reason", "bad_attachment")).isEqualTo(3);
        }
    }

    @Test
    void ends_of_connections_are_counted_with_their_reason() throws Exception {
        byte[] good = RawPeer.request(1, EXIST_KEY, KEY);
        try (RpcServer server = exist().start().orThrow()) {
            for (int[] change : new int[][] {{0, 9}, {1, 1}, {2, 1}}) {
                byte[] bad = good.clone();
                bad[change[0]] = (byte) change[1];
                try (RawPeer peer = RawPeer.to(server)) {
                    peer.send(good, bad);
                    assertThat(peer.readResponse().error()).isZero();
                    assertThat(peer.isClosedByPeer()).isTrue();
                }
            }
            try (RawPeer peer = RawPeer.to(server)) {
                peer.send(java.util.Arrays.copyOf(good, 25));
                peer.socket().shutdownOutput();
                assertThat(peer.isClosedByPeer()).isTrue();
            }
            for (String reason :
                    List.of("bad_magic", "bad_version", "bad_serialize_type", "truncated_frame")) {
                counted(metrics, CLOSED, "reason", reason);
            }
        }
    }

    @Test
    void whatever_a_peer_sends_the_server_serves_on() throws Exception {
        try (RpcServer server = exist().start().orThrow()) {
            Seeds.forEach(
                    150,
                    seed -> {
                        Random random = new Random(seed);
                        byte[] frames =
                                concatenated(
                                        new byte[][] {
                                            RawPeer.request(1, EXIST_KEY, KEY),
                                            RawPeer.request(2, SERVICE_READY, Done.DONE),
                                            RawPeer.request(3, EXIST_KEY, KEY)
                                        });
                        for (int i = 1 + random.nextInt(5); i > 0; i--) {
                            frames[random.nextInt(frames.length)] = (byte) random.nextInt();
                        }
                        try (RawPeer peer = RawPeer.to(server)) {
                            peer.send(frames);
                            peer.socket().shutdownOutput();
                            drain(peer);
                        } catch (SocketException e) {
                            // The server closed over unread bytes, as it may.
                            assertThat(e).hasMessageContaining("reset");
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    });
            try (RawPeer peer = RawPeer.to(server)) {
                peer.send(RawPeer.request(1, EXIST_KEY, KEY));
                assertThat(peer.readResponse().result(EXIST_KEY)).isEqualTo(Outcome.ok(true));
            }
            until("all connections end", () -> server.connections() == 0);
            assertThat(count(metrics, CLOSED, "reason", "internal_error")).isZero();
        }
    }

    private static void drain(RawPeer peer) throws IOException {
        while (peer.read(1024).length > 0) {
            // Anything may come.
        }
    }

    /** A question about one key of so many bytes. */
    private static byte[] longRequest(int keyBytes) {
        return RawPeer.request(
                1, EXIST_KEY, new Args.Key(ByteString.of("k".repeat(keyBytes)), TENANT));
    }

    @Test
    void long_requests_of_all_peers_together_take_no_more_than_their_share_of_the_heap()
            throws Exception {
        RpcServer.Builder builder = exist().limits(ServerLimits.DEFAULT.withInputBytes(4 << 20));
        byte[] request = longRequest((2 << 20) + 1);
        byte[] start = Arrays.copyOf(request, request.length - 1);
        byte[] rest = Arrays.copyOfRange(request, request.length - 1, request.length);
        try (RpcServer server = builder.start().orThrow();
                RawPeer first = RawPeer.to(server)) {
            first.send(start);
            until("it has come in", () -> server.inputMemory().leftBytes() < 2 << 20);
            try (RawPeer second = RawPeer.to(server)) {
                assertThatCode(() -> second.send(request))
                        .satisfiesAnyOf(
                                none -> assertThat(none).isNull(),
                                reset -> assertThat(reset).isInstanceOf(SocketException.class));
                counted(metrics, CLOSED, "reason", "out_of_memory");
            }
            first.send(rest);
            assertThat(first.readResponse().result(EXIST_KEY)).isEqualTo(Outcome.ok(true));
            until("it is given back", () -> server.inputMemory().leftBytes() == 4 << 20);
            try (RawPeer third = RawPeer.to(server)) {
                third.send(request);
                assertThat(third.readResponse().result(EXIST_KEY)).isEqualTo(Outcome.ok(true));
            }
        }
    }

    @Test
    void a_long_request_whose_rest_does_not_come_is_given_up() throws Exception {
        RpcServer.Builder builder =
                exist().limits(ServerLimits.DEFAULT.withWriteStall(Duration.ofSeconds(1)));
        byte[] request = longRequest(2 << 20);
        try (RpcServer server = builder.start().orThrow();
                RawPeer slow = RawPeer.to(server);
                RawPeer idle = RawPeer.to(server)) {
            long all = server.inputMemory().leftBytes();
            slow.send(Arrays.copyOf(request, 1 << 20));
            counted(metrics, CLOSED, "reason", "read_stall");
            until("its memory is given back", () -> server.inputMemory().leftBytes() == all);
            idle.send(RawPeer.request(2, EXIST_KEY, KEY));
            assertThat(idle.readResponse().result(EXIST_KEY)).isEqualTo(Outcome.ok(true));
        }
    }

    @Test
    void a_request_of_more_elements_than_the_heap_should_hold_is_refused() throws Exception {
        int elements = WireReader.MOST_ELEMENTS + 1;
        Args.Keys keys = new Args.Keys(Collections.nCopies(elements, ByteString.EMPTY), TENANT);
        try (RpcServer server =
                        exist().register(BATCH_EXIST_KEY, _ -> List.of()).start().orThrow();
                RawPeer peer = RawPeer.to(server)) {
            peer.send(RawPeer.request(1, BATCH_EXIST_KEY, keys));
            assertThat(peer.readResponse().error()).isEqualTo(RpcError.INVALID_ARGUMENTS.number());
        }
    }

    @Test
    void a_peer_that_does_not_read_blocks_itself_only_and_is_dropped() throws Exception {
        RpcServer.Builder builder =
                exist().register(
                                BATCH_EXIST_KEY,
                                _ -> Collections.nCopies(1_000_000, Outcome.ok(true)))
                        .limits(ServerLimits.DEFAULT.withWriteStall(Duration.ofSeconds(1)));
        try (RpcServer server = builder.start().orThrow();
                RawPeer lazy = RawPeer.to(server);
                RawPeer other = RawPeer.to(server)) {
            byte[] request = RawPeer.request(1, BATCH_EXIST_KEY, new Args.Keys(List.of(), TENANT));
            for (int i = 0; i < 50; i++) {
                lazy.send(request);
            }
            other.send(RawPeer.request(1, EXIST_KEY, KEY));
            assertThat(other.readResponse().result(EXIST_KEY)).isEqualTo(Outcome.ok(true));
            counted(metrics, CLOSED, "reason", "write_stall");
            until("the connection is gone", () -> server.connections() == 1);
        }
    }

    @Test
    void close_lets_the_running_call_finish_and_frees_the_port() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        RpcServer server =
                RpcServer.builder(metrics)
                        .register(
                                EXIST_KEY,
                                _ -> {
                                    running.countDown();
                                    return Outcome.ok(awaited(release));
                                })
                        .start()
                        .orThrow();
        try (RawPeer peer = RawPeer.to(server);
                RawPeer idle = RawPeer.to(server)) {
            peer.send(RawPeer.request(1, EXIST_KEY, KEY));
            assertThat(awaited(running)).isTrue();
            Thread closer = Thread.ofVirtual().start(server::close);
            assertThat(idle.isClosedByPeer()).isTrue();
            release.countDown();
            assertThat(peer.readResponse().result(EXIST_KEY)).isEqualTo(Outcome.ok(true));
            assertThat(peer.isClosedByPeer()).isTrue();
            closer.join();
            assertThat(server.connections()).isZero();
        }
        exist().bind("127.0.0.1", server.port()).start().orThrow().close();
    }

    private static boolean awaited(CountDownLatch latch) {
        try {
            return latch.await(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Test
    void a_start_that_fails_says_where_and_why() {
        try (RpcServer server = exist().start().orThrow()) {
            Outcome.Failed<?> inUse =
                    (Outcome.Failed<?>) exist().bind("127.0.0.1", server.port()).start();
            assertThat(inUse.code()).isEqualTo(StoreCode.RPC_FAIL);
            assertThat(inUse.detail()).contains("127.0.0.1:" + server.port()).contains("in use");
        }
        Outcome.Failed<?> unknown =
                (Outcome.Failed<?>) exist().bind("no-such-host.invalid", 0).start();
        assertThat(unknown.detail()).contains("no-such-host.invalid").contains("resolve");
    }

    @Test
    void two_methods_of_one_id_cannot_be_registered() {
        RpcServer.Builder twice = exist().register(EXIST_KEY, _ -> Outcome.ok(true));
        assertThatThrownBy(twice::start).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void connections_beyond_the_limit_are_closed_at_once() throws Exception {
        RpcServer.Builder builder = exist().limits(ServerLimits.DEFAULT.withMaxConnections(2));
        try (RpcServer server = builder.start().orThrow();
                RawPeer one = RawPeer.to(server);
                RawPeer two = RawPeer.to(server)) {
            for (RawPeer each : List.of(one, two)) {
                each.send(RawPeer.request(1, EXIST_KEY, KEY));
                assertThat(each.readResponse().error()).isZero();
            }
            try (RawPeer three = RawPeer.to(server)) {
                assertThat(three.isClosedByPeer()).isTrue();
            }
            counted(metrics, REJECTED, "reason", "too_many_connections");
        }
    }

    @Test
    void connections_beyond_the_platform_threads_are_served_by_virtual_ones() throws Exception {
        AtomicReference<Boolean> virtual = new AtomicReference<>(false);
        RpcServer.Builder builder =
                RpcServer.builder(metrics)
                        .register(
                                EXIST_KEY,
                                _ -> {
                                    virtual.set(Thread.currentThread().isVirtual());
                                    return Outcome.ok(true);
                                })
                        .limits(ServerLimits.DEFAULT.withPlatformThreads(2));
        List<RawPeer> peers = new ArrayList<>();
        try (RpcServer server = builder.start().orThrow()) {
            for (int i = 0; i < 300; i++) {
                peers.add(RawPeer.to(server));
            }
            for (RawPeer peer : peers) {
                peer.send(RawPeer.request(1, EXIST_KEY, KEY));
                assertThat(peer.readResponse().result(EXIST_KEY)).isEqualTo(Outcome.ok(true));
            }
            assertThat(virtual.get()).isTrue();
            assertThat(server.connections()).isEqualTo(300);
        } finally {
            for (RawPeer peer : peers) {
                peer.close();
            }
        }
    }

    @Test
    void a_connection_that_sends_nothing_ends_when_that_has_a_limit() throws Exception {
        RpcServer.Builder builder =
                exist().limits(ServerLimits.DEFAULT.withIdle(Duration.ofSeconds(1)));
        try (RpcServer server = builder.start().orThrow();
                RawPeer silent = RawPeer.to(server);
                RawPeer halfFrame = RawPeer.to(server)) {
            halfFrame.send(new byte[] {FrameLayout.MAGIC, 0});
            assertThat(silent.isClosedByPeer()).isTrue();
            assertThat(halfFrame.isClosedByPeer()).isTrue();
            until("both are gone", () -> server.connections() == 0);
        }
        counted(metrics, CLOSED, "reason", "idle");
    }

    /** A registry whose counter of refused connections is broken. */
    private static final class BrokenRegistry extends SimpleMeterRegistry {
        @Override
        protected Counter newCounter(Meter.Id id) {
            Counter counter = super.newCounter(id);
            if (!"too_many_connections".equals(id.getTag("reason"))) {
                return counter;
            }
            return new CumulativeCounter(id) {
                @Override
                public void increment(double amount) {
                    throw new IllegalStateException("broken");
                }
            };
        }
    }

    @Test
    void a_connection_that_cannot_be_admitted_leaves_the_server_no_less_open() throws Exception {
        RpcServer.Builder builder =
                RpcServer.builder(new BrokenRegistry())
                        .register(EXIST_KEY, _ -> Outcome.ok(true))
                        .limits(ServerLimits.DEFAULT.withMaxConnections(1));
        try (RpcServer server = builder.start().orThrow()) {
            try (RawPeer first = RawPeer.to(server)) {
                until("it is served", () -> server.connections() == 1);
                try (RawPeer refused = RawPeer.to(server)) {
                    assertThat(refused.isClosedByPeer()).isTrue();
                }
                assertThat(first).isNotNull();
            }
            until("there is room again", () -> server.connections() == 0);
            try (RawPeer next = RawPeer.to(server)) {
                next.send(RawPeer.request(1, EXIST_KEY, KEY));
                assertThat(next.readResponse().result(EXIST_KEY)).isEqualTo(Outcome.ok(true));
            }
        }
    }
}
