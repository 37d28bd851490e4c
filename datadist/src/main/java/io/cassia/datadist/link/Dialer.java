package io.cassia.datadist.link;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/**
 * The dialling side of the handshake. Immutable.
 *
 * <pre>
 *   dialling side                              listening side
 *        HELLO ───────────────────────────────────►  who it is, whom it wants
 *        ◄─────────────────────────────── CHALLENGE  who that is, its nonce
 *        PROOF ───────────────────────────────────►  token proved (empty without one)
 *        ◄─────────────────────────────────── READY  it has its link, its own proof
 *        CONFIRM ─────────────────────────────────►  both have it
 *
 *   STATUS in the place of CHALLENGE or READY refuses with a code and a reason.
 * </pre>
 */
final class Dialer {
    private final Self self;
    private final LinkConfig config;
    private final Clock clock;
    private final LinkMeters meters;
    private final SocketGuard guard;
    private final Connector connector;

    Dialer(
            Self self,
            LinkConfig config,
            Clock clock,
            LinkMeters meters,
            SocketGuard guard,
            Rest rest) {
        this.self = self;
        this.config = config;
        this.clock = clock;
        this.meters = meters;
        this.guard = guard;
        this.connector = new Connector(clock, guard, rest);
    }

    /**
     * An answered handshake. Immutable.
     *
     * @param channel the connection, not started
     * @param peer who answered
     */
    record Dialed(ControlChannel channel, Peer peer) {}

    /**
     * Connects and shakes hands. {@code LLM_TIMEOUT} when the connection did not come to be in
     * time, {@code LLM_WAIT_PROC_TIMEOUT} when the peer was silent then, {@code LLM_PARAM_INVALID}
     * when another cluster answers, {@code LLM_ALREADY_LINK} and {@code LLM_LINK_FAILED} in the
     * peer's words.
     */
    Outcome<Dialed> link(ClusterInfo cluster, long deadlineNanos) {
        return dial(cluster, false, config.connectTries(), deadlineNanos);
    }

    /** Tells the peer that this side has given a broken link up. */
    Outcome<Done> tellUnlinked(ClusterInfo cluster, long deadlineNanos) {
        return dial(cluster, true, 1, deadlineNanos)
                .map(
                        dialed -> {
                            dialed.channel()
                                    .close(Outcome.failed(LlmStatus.LLM_NOT_YET_LINK, "told"));
                            return Done.DONE;
                        });
    }

    private Outcome<Dialed> dial(
            ClusterInfo cluster, boolean unlink, int tries, long deadlineNanos) {
        return switch (connector.connect(cluster, tries, deadlineNanos)) {
            case Outcome.Failed<Socket> failed -> failed.as();
            case Outcome.Ok<Socket>(Socket socket) -> {
                try {
                    yield shakeHands(socket, cluster, unlink, deadlineNanos);
                } finally {
                    guard.forget(socket);
                }
            }
        };
    }

    private Outcome<Dialed> shakeHands(
            Socket socket, ClusterInfo cluster, boolean unlink, long deadlineNanos) {
        Outcome<Dialed> outcome;
        try {
            socket.setSoTimeout(Connector.millisLeft(clock, deadlineNanos));
            Socket streams = secured(socket, cluster);
            ControlChannel channel = new ControlChannel(socket, streams, clock, meters);
            outcome = talk(channel, socket, cluster, unlink, deadlineNanos);
        } catch (SocketTimeoutException e) {
            outcome = silent(cluster);
        } catch (EOFException e) {
            outcome = failed("%s closed the connection during the handshake".formatted(cluster));
        } catch (IOException e) {
            outcome =
                    clock.nanos() - deadlineNanos >= 0
                            ? silent(cluster)
                            : failed("handshake with %s: %s".formatted(cluster, words(e)));
        } catch (WireReader.Malformed e) {
            outcome = failed("%s broke the protocol: %s".formatted(cluster, e.getMessage()));
        }
        if (!outcome.isOk()) {
            SocketGuard.closeQuietly(socket);
        }
        return outcome;
    }

    private static String words(IOException e) {
        return e instanceof FrameLayout.MalformedFrame
                ? String.valueOf(e.getMessage())
                : ControlChannel.text(e)
                        + (e instanceof SSLException ? " (does the peer use TLS too?)" : "");
    }

    private Socket secured(Socket socket, ClusterInfo cluster) throws IOException {
        if (config.credentials().tls().isEmpty()) {
            return socket;
        }
        IpInfo target = cluster.remoteIps().getFirst();
        SSLSocket secure =
                (SSLSocket)
                        config.credentials()
                                .tls()
                                .get()
                                .context()
                                .getSocketFactory()
                                .createSocket(socket, target.host(), target.port(), true);
        SSLParameters parameters = secure.getSSLParameters();
        parameters.setProtocols(new String[] {"TLSv1.3"});
        if (config.credentials().verifyHost()) {
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
        }
        secure.setSSLParameters(parameters);
        secure.startHandshake();
        return secure;
    }

    private Outcome<Dialed> talk(
            ControlChannel channel,
            Socket socket,
            ClusterInfo cluster,
            boolean unlink,
            long deadlineNanos)
            throws IOException {
        Hello hello =
                new Hello(
                        unlink,
                        cluster.remoteClusterId(),
                        self.describe(),
                        self.nonce(),
                        Connector.millisLeft(clock, deadlineNanos));
        channel.writeHandshake(FrameType.HELLO, hello.encode());
        Frame first = channel.readHandshake();
        if (first.type() == FrameType.STATUS) {
            return refused(cluster, first);
        }
        if (first.type() != FrameType.CHALLENGE) {
            return failed("%s answered HELLO with %s".formatted(cluster, first.type()));
        }
        Challenge challenge = Challenge.decode(first.body());
        if (checkPeer(cluster, challenge) instanceof Outcome.Failed<Done> wrong) {
            return wrong.as();
        }
        channel.writeHandshake(
                FrameType.PROOF, config.credentials().proof("dialling", hello, challenge));
        Frame second = channel.readHandshake();
        if (second.type() == FrameType.STATUS) {
            return refused(cluster, second);
        }
        if (second.type() != FrameType.READY) {
            return failed("%s answered PROOF with %s".formatted(cluster, second.type()));
        }
        ByteString proof = second.body();
        if (!config.credentials().accepts(proof, "listening", hello, challenge)) {
            return failed("%s does not know this side's token".formatted(cluster));
        }
        if (!unlink) {
            channel.writeHandshake(FrameType.CONFIRM, ByteString.EMPTY);
        }
        socket.setSoTimeout(0);
        return Outcome.ok(new Dialed(channel, challenge.self()));
    }

    private Outcome<Done> checkPeer(ClusterInfo cluster, Challenge challenge) {
        if (challenge.self().clusterId() != cluster.remoteClusterId()) {
            return Outcome.failed(
                    LlmStatus.LLM_PARAM_INVALID,
                    "%s answered as cluster %s".formatted(cluster, challenge.self().idText()));
        }
        if (challenge.tokenRequired() && config.credentials().token().isEmpty()) {
            return failed("%s asks for a token, this side has none".formatted(cluster));
        }
        return Outcome.done();
    }

    private static Outcome<Dialed> refused(ClusterInfo cluster, Frame status) {
        return switch (StatusMessage.decode(status.body())) {
            case Outcome.Failed<Done> failed -> failed.in(cluster + " refused");
            case Outcome.Ok<Done> ok -> failed(cluster + " refused without a code");
        };
    }

    private static Outcome<Dialed> silent(ClusterInfo cluster) {
        return Outcome.failed(
                LlmStatus.LLM_WAIT_PROC_TIMEOUT,
                "%s was reached but did not answer the handshake in time; is it hung?"
                        .formatted(cluster));
    }

    private static <T> Outcome<T> failed(String detail) {
        return Outcome.failed(LlmStatus.LLM_LINK_FAILED, detail);
    }
}
