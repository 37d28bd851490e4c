package io.cassia.datadist.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.Clusters;
import io.cassia.datadist.Expect;
import io.cassia.datadist.ManualClock;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.testkit.CrowdedPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Who closes a socket first, the guard or the time-out of the socket itself, makes no difference.
 */
final class ConnectorTest {
    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private final ManualClock clock = new ManualClock();
    private final SocketGuard guard = new SocketGuard();
    private final Connector connector = new Connector(clock, guard, new Rest());
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closeable : open.reversed()) {
            closeable.close();
        }
    }

    private static ClusterInfo at(int port) {
        return ClusterInfo.of(1, "127.0.0.1", port);
    }

    @Test
    void a_connect_that_the_guard_ends_was_not_answered_in_time() throws IOException {
        CrowdedPort crowded = CrowdedPort.open();
        open.add(crowded);
        ClusterInfo full = at(crowded.port());
        long deadline = clock.nanos() + MINUTE;
        CompletableFuture<Outcome<Socket>> connect =
                CompletableFuture.supplyAsync(() -> connector.connect(full, 1, deadline));
        clock.advance(Duration.ofNanos(MINUTE));
        assertThat(
                        Clusters.eventually(
                                () -> {
                                    guard.closeOverdue(deadline + 1);
                                    return connect.isDone();
                                }))
                .isTrue();
        Expect.failed(connect.join(), LlmStatus.LLM_TIMEOUT, "no answer in time");
    }

    @Test
    void a_connection_is_guarded_until_the_deadline_and_not_longer() throws IOException {
        ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        open.add(listener);
        long deadline = clock.nanos() + MINUTE;
        Socket socket = connector.connect(at(listener.getLocalPort()), 10, deadline).orThrow();
        open.add(socket);
        guard.closeOverdue(deadline - MINUTE / 10);
        assertThat(socket.isClosed()).isFalse();
        guard.closeOverdue(deadline + 1);
        assertThat(socket.isClosed()).isTrue();
    }
}
