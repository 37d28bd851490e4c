package io.cassia.datadist.link;

import io.cassia.base.Clock;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Immutable. Opens TCP connections to peers within a deadline. */
final class Connector {
    private final Clock clock;
    private final SocketGuard guard;
    private final Rest rest;

    Connector(Clock clock, SocketGuard guard, Rest rest) {
        this.clock = clock;
        this.guard = guard;
        this.rest = rest;
    }

    /**
     * A connection to where the cluster listens, watched by the guard until the deadline. {@code
     * LLM_TIMEOUT} when there was no answer in time, {@code LLM_LINK_FAILED} when it is refused,
     * cannot be reached, or its name is unknown.
     *
     * @param tries attempts; each has its share of the time, and a refused one waits it out
     */
    Outcome<Socket> connect(ClusterInfo cluster, int tries, long deadlineNanos) {
        IpInfo target = cluster.remoteIps().getFirst();
        long share = Math.max(1, deadlineNanos - clock.nanos()) / tries;
        Outcome<Socket> outcome = Outcome.failed(LlmStatus.LLM_LINK_FAILED, "no attempt");
        for (int i = 1; i <= tries; i++) {
            long end = deadlineNanos - share * (tries - i);
            outcome =
                    resolve(target, end)
                            .then(all -> connectAny(all, cluster, end))
                            .then(socket -> keep(socket, end, deadlineNanos));
            if (outcome.isOk() || i == tries || !rest.pause(end - clock.nanos())) {
                break;
            }
        }
        return outcome;
    }

    /** What is said over the connection may take longer than one attempt to make it. */
    private Outcome<Socket> keep(Socket socket, long end, long deadlineNanos) {
        return guard.extend(socket, end, deadlineNanos)
                ? Outcome.ok(socket)
                : noAnswer(socket.getInetAddress(), socket.getPort());
    }

    private Outcome<List<InetAddress>> resolve(IpInfo target, long deadlineNanos) {
        Optional<InetAddress> literal = target.literal();
        if (literal.isPresent()) {
            return Outcome.ok(List.of(literal.get()));
        }
        CompletableFuture<List<InetAddress>> found = new CompletableFuture<>();
        // It blocks in native code: on virtual threads slow names would hold up everything else.
        Thread.ofPlatform()
                .daemon()
                .name("datadist-resolve")
                .start(
                        () -> {
                            try {
                                found.complete(List.of(InetAddress.getAllByName(target.host())));
                            } catch (UnknownHostException e) {
                                found.completeExceptionally(e);
                            }
                        });
        try {
            return Outcome.ok(
                    found.get(Math.max(1, deadlineNanos - clock.nanos()), TimeUnit.NANOSECONDS));
        } catch (ExecutionException e) {
            return Outcome.failed(
                    LlmStatus.LLM_LINK_FAILED, "host " + target.host() + " is unknown");
        } catch (TimeoutException e) {
            return Outcome.failed(
                    LlmStatus.LLM_TIMEOUT, "host " + target.host() + " did not resolve in time");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Outcome.failed(LlmStatus.LLM_LINK_FAILED, "interrupted");
        }
    }

    private Outcome<Socket> connectAny(
            List<InetAddress> addresses, ClusterInfo cluster, long deadlineNanos) {
        Outcome<Socket> outcome = Outcome.failed(LlmStatus.LLM_LINK_FAILED, "no address");
        for (InetAddress address : addresses) {
            outcome = connectOne(address, cluster, deadlineNanos);
            if (outcome.isOk()) {
                break;
            }
        }
        return outcome;
    }

    private Outcome<Socket> connectOne(
            InetAddress address, ClusterInfo cluster, long deadlineNanos) {
        int port = cluster.remoteIps().getFirst().port();
        Socket socket = new Socket();
        guard.watch(socket, deadlineNanos);
        try {
            socket.setTcpNoDelay(true);
            if (!cluster.localIps().isEmpty()) {
                String local = cluster.localIps().getFirst().host();
                socket.bind(new InetSocketAddress(local, 0));
            }
            socket.connect(new InetSocketAddress(address, port), millisLeft(clock, deadlineNanos));
            return Outcome.ok(socket);
        } catch (SocketTimeoutException e) {
            guard.close(socket);
            return noAnswer(address, port);
        } catch (IOException e) {
            // The guard has the same deadline as the connect, and may be first to close the socket.
            boolean overdue = socket.isClosed() && clock.nanos() - deadlineNanos >= 0;
            guard.close(socket);
            return overdue
                    ? noAnswer(address, port)
                    : Outcome.failed(
                            LlmStatus.LLM_LINK_FAILED,
                            "connect to %s port %d: %s; does the cluster listen there?"
                                    .formatted(
                                            address.getHostAddress(),
                                            port,
                                            ControlChannel.text(e)));
        }
    }

    private static Outcome<Socket> noAnswer(InetAddress address, int port) {
        return Outcome.failed(
                LlmStatus.LLM_TIMEOUT,
                "connect to %s port %d: no answer in time; is the address right, and a firewall in between?"
                        .formatted(address.getHostAddress(), port));
    }

    /** Milliseconds to a deadline as socket timeouts want them: 1 at least, 0 would be for ever. */
    static int millisLeft(Clock clock, long deadlineNanos) {
        long millis = Duration.ofNanos(deadlineNanos - clock.nanos() + 999_999).toMillis();
        return Math.clamp(millis, 1, Integer.MAX_VALUE);
    }
}
