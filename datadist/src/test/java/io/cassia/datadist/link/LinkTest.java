package io.cassia.datadist.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.datadist.Expect;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Rules of use (decision 14) and the state machine (5.7). */
final class LinkTest {
    private final Clock clock = Clock.system();
    private final ServerSocket server = server();
    private final Link link = new Link(7, true, "127.0.0.1:26000", 1, clock);

    @AfterEach
    void closeServer() throws IOException {
        server.close();
    }

    @Test
    void different_kinds_exclude_each_other_at_once() throws IOException {
        activate(link);
        Expect.ok(link.acquire(OpKind.PULL, far(), false));
        for (OpKind other : new OpKind[] {OpKind.PUSH, OpKind.CHECK}) {
            Expect.failed(
                    link.acquire(other, far(), false),
                    LlmStatus.LLM_LINK_BUSY,
                    "PULL of this side");
        }
        Expect.failed(link.beginServing(OpKind.PUSH, true), LlmStatus.LLM_LINK_BUSY, "PULL");
        Expect.ok(link.beginServing(OpKind.PULL, false));
        Expect.failed(link.beginUnlink(), LlmStatus.LLM_LINK_BUSY);
        link.release(OpKind.PULL);
        Expect.failed(
                link.acquire(OpKind.PUSH, far(), false), LlmStatus.LLM_LINK_BUSY, "of the peer");
        Expect.failed(link.beginUnlink(), LlmStatus.LLM_LINK_BUSY, "of the peer");
        link.endServing(OpKind.PULL);
        Expect.ok(link.acquire(OpKind.PUSH, far(), false));
    }

    @Test
    void what_the_other_end_is_about_to_end_is_waited_for() throws Exception {
        activate(link);
        Expect.ok(link.beginServing(OpKind.PULL, false));
        CompletableFuture<Outcome<?>> push =
                CompletableFuture.supplyAsync(() -> link.acquire(OpKind.PUSH, far(), true));
        link.endServing(OpKind.PULL);
        Expect.ok(push.get());
        CompletableFuture<Outcome<?>> pull =
                CompletableFuture.supplyAsync(() -> link.beginServing(OpKind.PULL, true));
        link.release(OpKind.PUSH);
        Expect.ok(pull.get());
    }

    @Test
    void one_kind_queues_for_its_time_and_then_the_link_is_busy() throws Exception {
        activate(link);
        Expect.ok(link.acquire(OpKind.PULL, far(), false));
        long soon = clock.nanos() + Duration.ofMillis(20).toNanos();
        Expect.failed(
                link.acquire(OpKind.PULL, soon, false), LlmStatus.LLM_LINK_BUSY, "time budget");
        assertThat(clock.nanos()).isGreaterThanOrEqualTo(soon);
        CompletableFuture<Outcome<?>> queued =
                CompletableFuture.supplyAsync(() -> link.acquire(OpKind.PULL, far(), false));
        link.release(OpKind.PULL);
        Expect.ok(queued.get());
    }

    @Test
    void channels_let_one_kind_run_several_times() throws IOException {
        Link wide = new Link(7, true, "127.0.0.1:26000", 2, clock);
        activate(wide);
        Expect.ok(wide.acquire(OpKind.PULL, clock.nanos(), false));
        Expect.ok(wide.acquire(OpKind.PULL, clock.nanos(), false));
        Expect.failed(wide.acquire(OpKind.PULL, clock.nanos(), false), LlmStatus.LLM_LINK_BUSY);
    }

    @Test
    void the_patient_queue_behind_other_kinds() throws Exception {
        activate(link);
        Expect.ok(link.acquire(OpKind.PULL, far(), false));
        CompletableFuture<Outcome<?>> patient =
                CompletableFuture.supplyAsync(() -> link.acquire(OpKind.PUSH, far(), true));
        link.release(OpKind.PULL);
        Expect.ok(patient.get());
    }

    @Test
    void a_broken_link_says_why_and_cannot_be_used() throws IOException {
        activate(link);
        assertThat(link.breakDown(reason("no answer"))).isTrue();
        assertThat(link.breakDown(reason("again"))).isFalse();
        assertThat(link.state()).isEqualTo(LinkState.BROKEN);
        assertThat(link.whyBroken()).contains("no answer");
        assertThat(link.channel().isClosed()).isTrue();
        Expect.failed(
                link.acquire(OpKind.PULL, far(), false),
                LlmStatus.LLM_NOT_YET_LINK,
                "broken",
                "no answer",
                "unlink and link again");
        link.retire(reason("unlinked"));
        assertThat(link.state()).isEqualTo(LinkState.CLOSED);
        assertThat(link.whyBroken()).isEmpty();
    }

    @Test
    void an_unlink_keeps_operations_out_until_it_is_called_off() throws IOException {
        activate(link);
        Expect.ok(link.beginUnlink());
        Expect.failed(link.acquire(OpKind.PULL, far(), false), LlmStatus.LLM_LINK_BUSY, "unlink");
        Expect.failed(link.beginUnlink(), LlmStatus.LLM_NOT_YET_LINK);
        link.cancelUnlink();
        Expect.ok(link.acquire(OpKind.PULL, far(), false));
    }

    @Test
    void a_link_that_was_given_up_while_it_was_made_does_not_come_to_be() throws IOException {
        link.retire(reason("given up"));
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort())) {
            assertThat(link.activate(channel(socket), peer(), true)).isFalse();
        }
        assertThat(link.state()).isEqualTo(LinkState.CLOSED);
    }

    @Test
    void a_link_that_the_peer_never_confirmed_leaves_nothing_behind() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort())) {
            assertThat(link.activate(channel(socket), peer(), false)).isTrue();
            assertThat(link.breakDown(reason("lost"))).isTrue();
        }
        assertThat(link.state()).isEqualTo(LinkState.CLOSED);
    }

    private void activate(Link made) throws IOException {
        // The channel owns the socket and outlives this method.
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort());
        assertThat(made.activate(channel(socket), peer(), true)).isTrue();
    }

    private ControlChannel channel(Socket socket) throws IOException {
        return new ControlChannel(
                socket, socket, clock, new LinkMeters(new SimpleMeterRegistry(), 1));
    }

    private static Peer peer() {
        return new Peer(7, LlmRole.PROMPT, 1, true, false, "127.0.0.1:15000");
    }

    private static Outcome.Failed<?> reason(String detail) {
        return Outcome.failed(LlmStatus.LLM_FAILED, detail);
    }

    private long far() {
        return clock.nanos() + Duration.ofSeconds(5).toNanos();
    }

    private static ServerSocket server() {
        try {
            return new ServerSocket(0);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
