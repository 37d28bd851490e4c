package io.cassia.datadist.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.datadist.Clusters;
import io.cassia.datadist.Expect;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class ControlChannelTest {
    private final Clock clock = Clock.system();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final LinkMeters meters = new LinkMeters(registry, 1);
    private final Receiver nobody = new Receiver();
    private final Receiver peer = new Receiver();
    private Socket near;
    private Socket far;
    private ControlChannel caller;
    private ControlChannel callee;

    /** Guarded. Keeps what comes. */
    private static final class Receiver implements ControlChannel.Receiver {
        final List<Frame> requests = new CopyOnWriteArrayList<>();
        final CompletableFuture<Outcome.Failed<?>> closed = new CompletableFuture<>();

        @Override
        public void onRequest(ControlChannel channel, Frame request) {
            requests.add(request);
        }

        @Override
        public void onClosed(ControlChannel channel, Outcome.Failed<?> reason) {
            closed.complete(reason);
        }
    }

    @BeforeEach
    void connect() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            near = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort());
            far = server.accept();
        }
        caller = new ControlChannel(near, near, clock, meters);
        callee = new ControlChannel(far, far, clock, meters);
        caller.start("caller", nobody);
        callee.start("callee", peer);
    }

    @AfterEach
    void close() throws IOException {
        near.close();
        far.close();
    }

    @Test
    void a_late_answer_is_dropped_and_not_taken_for_another() {
        Expect.failed(
                caller.request(FrameType.PING, ByteString.of("one"), in(20)),
                LlmStatus.LLM_WAIT_PROC_TIMEOUT,
                "PING");
        CompletableFuture<Outcome<Frame>> second =
                CompletableFuture.supplyAsync(
                        () -> caller.request(FrameType.PING, ByteString.of("two"), in(5000)));
        assertThat(Clusters.eventually(() -> peer.requests.size() == 2)).isTrue();
        callee.answer(peer.requests.get(0), FrameType.STATUS, ByteString.of("late"));
        callee.answer(peer.requests.get(1), FrameType.STATUS, ByteString.of("in time"));
        assertThat(second.join().orThrow().body()).isEqualTo(ByteString.of("in time"));
        assertThat(dropped("late-answer")).isEqualTo(1);
    }

    @Test
    void who_waits_hears_of_the_end_with_its_first_reason() {
        CompletableFuture<Outcome<Frame>> waiting =
                CompletableFuture.supplyAsync(
                        () -> caller.request(FrameType.PING, ByteString.EMPTY, in(5000)));
        assertThat(Clusters.eventually(() -> peer.requests.size() == 1)).isTrue();
        caller.close(Outcome.failed(LlmStatus.LLM_NOT_YET_LINK, "first reason"));
        caller.close(Outcome.failed(LlmStatus.LLM_FAILED, "second reason"));
        Expect.failed(waiting.join(), LlmStatus.LLM_NOT_YET_LINK, "first reason");
        Expect.failed(
                caller.request(FrameType.PING, ByteString.EMPTY, in(5000)),
                LlmStatus.LLM_NOT_YET_LINK,
                "first reason");
        Expect.failed(peer.closed.join(), LlmStatus.LLM_FAILED, "connection lost");
    }

    @Test
    void who_stays_awake_gets_its_answer_and_no_other() {
        CompletableFuture<Void> answering =
                CompletableFuture.runAsync(
                        () -> {
                            for (int i = 0; i < 100; i++) {
                                int seen = i;
                                assertThat(Clusters.eventually(() -> peer.requests.size() > seen))
                                        .isTrue();
                                Frame request = peer.requests.get(i);
                                callee.answer(request, FrameType.STATUS, request.body());
                            }
                        });
        long awake = Duration.ofMillis(1).toNanos();
        for (int i = 0; i < 100; i++) {
            ByteString body = ByteString.of("request " + i);
            assertThat(caller.request(FrameType.PING, body, in(5000), awake, Frame::body).orThrow())
                    .isEqualTo(body);
        }
        answering.join();
    }

    @Test
    void who_stays_awake_ends_by_its_deadline() {
        Expect.failed(
                caller.request(
                        FrameType.PING,
                        ByteString.EMPTY,
                        in(20),
                        Duration.ofMillis(1).toNanos(),
                        Frame::body),
                LlmStatus.LLM_WAIT_PROC_TIMEOUT,
                "PING");
    }

    @Test
    void an_answer_that_cannot_be_read_fails_its_request_and_ends_the_connection() {
        CompletableFuture<Outcome<Outcome<Done>>> asking =
                CompletableFuture.supplyAsync(
                        () -> caller.ask(FrameType.DONE, ByteString.EMPTY, in(5000), 0));
        assertThat(Clusters.eventually(() -> peer.requests.size() == 1)).isTrue();
        callee.answer(peer.requests.getFirst(), FrameType.GRANT, ByteString.EMPTY);
        Expect.failed(
                asking.join(),
                LlmStatus.LLM_FAILED,
                "broke the protocol",
                "GRANT in the place of STATUS");
        Expect.failed(nobody.closed.join(), LlmStatus.LLM_FAILED, "GRANT in the place of STATUS");
    }

    @Test
    void a_message_without_an_answer_is_not_answered() {
        caller.tell(FrameType.DONE, ByteString.EMPTY, in(1000));
        assertThat(Clusters.eventually(() -> peer.requests.size() == 1)).isTrue();
        callee.answer(peer.requests.getFirst(), Outcome.done());
        CompletableFuture<Outcome<Frame>> next =
                CompletableFuture.supplyAsync(
                        () -> caller.request(FrameType.PING, ByteString.EMPTY, in(5000)));
        assertThat(Clusters.eventually(() -> peer.requests.size() == 2)).isTrue();
        callee.answer(peer.requests.get(1), Outcome.done());
        Expect.ok(next.join());
        assertThat(dropped("late-answer")).isZero();
    }

    @Test
    void nonsense_ends_the_connection() throws IOException {
        near.getOutputStream().write(new byte[32]);
        Expect.failed(peer.closed.join(), LlmStatus.LLM_FAILED, "not a control frame");
        assertThat(callee.isClosed()).isTrue();
    }

    @Test
    void a_peer_that_takes_no_bytes_does_not_hold_a_writer() {
        // Nobody reads at the far end.
        CompletableFuture<Boolean> stuck = new CompletableFuture<>();
        try (Socket one = pair();
                Socket other = accepted) {
            ControlChannel writer = new ControlChannel(one, one, clock, meters);
            writer.start("writer", nobody);
            Thread.ofPlatform()
                    .daemon()
                    .start(
                            () -> {
                                Outcome<Frame> last = Outcome.failed(LlmStatus.LLM_FAILED, "none");
                                ByteString big = ByteString.wrap(new byte[1 << 20]);
                                for (int i = 0; i < 64 && !writer.isClosed(); i++) {
                                    last = writer.request(FrameType.PING, big, in(50));
                                }
                                stuck.complete(!last.isOk() && writer.isClosed());
                            });
            assertThat(
                            Clusters.eventually(
                                    () -> {
                                        writer.closeIfOverdue(clock.nanos());
                                        return stuck.isDone();
                                    }))
                    .isTrue();
            assertThat(stuck.join()).isTrue();
            assertThat(other.isClosed()).isFalse();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private Socket accepted = new Socket();

    private Socket pair() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Socket one = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort());
            accepted = server.accept();
            return one;
        }
    }

    private double dropped(String reason) {
        return registry.get("cassia.datadist.dropped").tag("reason", reason).counter().count();
    }

    private long in(long millis) {
        return clock.nanos() + Duration.ofMillis(millis).toNanos();
    }
}
