package io.cassia.datadist.link;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.lang.System.Logger.Level;
import java.net.Socket;
import java.time.Duration;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/** The listening side of the handshake, drawn at {@link Dialer}. Immutable. */
final class Acceptor {
    private static final System.Logger LOG = System.getLogger(Acceptor.class.getName());
    private static final Duration BUDGET = Duration.ofSeconds(10);
    private static final Duration PROBE = Duration.ofMillis(300);

    private final Self self;
    private final LinkConfig config;
    private final Clock clock;
    private final LinkMeters meters;
    private final SocketGuard guard;
    private final LinkTable table;
    private final LinkEvents events;

    Acceptor(
            Self self,
            LinkConfig config,
            Clock clock,
            LinkMeters meters,
            SocketGuard guard,
            LinkTable table,
            LinkEvents events) {
        this.self = self;
        this.config = config;
        this.clock = clock;
        this.meters = meters;
        this.guard = guard;
        this.table = table;
        this.events = events;
    }

    /** Shakes hands with who has connected; closes the socket when no link comes of it. */
    void handshake(Socket socket) {
        long deadline = clock.nanos() + BUDGET.toNanos();
        guard.watch(socket, deadline);
        boolean linked = false;
        try {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(Connector.millisLeft(clock, deadline));
            Optional<Socket> streams = secured(socket);
            linked =
                    streams.isPresent()
                            ? talk(new ControlChannel(socket, streams.get(), clock, meters), socket)
                            : refusePlain(socket);
        } catch (IOException | WireReader.Malformed e) {
            meters.refusedHandshake();
            LOG.log(
                    Level.INFO,
                    "handshake-refused peer=%s reason=%s"
                            .formatted(socket.getRemoteSocketAddress(), ControlChannel.text(e)));
        } finally {
            guard.forget(socket);
            if (!linked) {
                SocketGuard.closeQuietly(socket);
            }
        }
    }

    /** The streams to talk over; empty when this side asks for TLS and that side speaks plainly. */
    private Optional<Socket> secured(Socket socket) throws IOException {
        if (config.credentials().tls().isEmpty()) {
            return Optional.of(socket);
        }
        int first = socket.getInputStream().read();
        if (first == FrameLayout.FIRST_BYTE) {
            return Optional.empty();
        }
        byte[] read = first < 0 ? new byte[0] : new byte[] {(byte) first};
        SSLContext context = config.credentials().tls().get().context();
        SSLSocket secure =
                (SSLSocket)
                        context.getSocketFactory()
                                .createSocket(socket, new ByteArrayInputStream(read), true);
        SSLParameters parameters = secure.getSSLParameters();
        parameters.setProtocols(new String[] {"TLSv1.3"});
        parameters.setNeedClientAuth(true);
        secure.setSSLParameters(parameters);
        secure.startHandshake();
        return Optional.of(secure);
    }

    /** Says in plain text why; what it was going to say is read first, lest the answer be lost. */
    private boolean refusePlain(Socket socket) throws IOException {
        Outcome<Done> refusal =
                Outcome.failed(
                        LlmStatus.LLM_LINK_FAILED,
                        "this cluster asks for TLS: set llm.ControlTls=1 and the key files");
        meters.attempt("accept", refusal);
        LOG.log(
                Level.INFO,
                "link-refused peer=%s reason=%s"
                        .formatted(socket.getRemoteSocketAddress(), refusal));
        InputStream first = new ByteArrayInputStream(new byte[] {(byte) FrameLayout.FIRST_BYTE});
        DataInputStream in =
                new DataInputStream(new SequenceInputStream(first, socket.getInputStream()));
        Frame _ = FrameLayout.read(in, FrameLayout.MAX_HANDSHAKE_BODY_BYTES);
        Frame answer = new Frame(FrameType.STATUS, 0, false, StatusMessage.encode(refusal));
        socket.getOutputStream().write(FrameLayout.encode(answer));
        return false;
    }

    private boolean talk(ControlChannel channel, Socket socket) throws IOException {
        Frame first = channel.readHandshake();
        if (first.type() != FrameType.HELLO) {
            throw new FrameLayout.MalformedFrame("begins with " + first.type());
        }
        Hello hello = Hello.decode(first.body());
        if (checkHello(hello) instanceof Outcome.Failed<Done> refusal) {
            return refuse(channel, hello, refusal);
        }
        boolean token = config.credentials().token().isPresent();
        Challenge challenge = new Challenge(self.describe(), self.nonce(), token);
        channel.writeHandshake(FrameType.CHALLENGE, challenge.encode());
        Frame proof = channel.readHandshake();
        if (proof.type() != FrameType.PROOF) {
            throw new FrameLayout.MalformedFrame("answers CHALLENGE with " + proof.type());
        }
        if (!config.credentials().accepts(proof.body(), "dialling", hello, challenge)) {
            return refuse(
                    channel,
                    hello,
                    Outcome.failed(
                            LlmStatus.LLM_LINK_FAILED, "the token is not the one asked for"));
        }
        ByteString ready = config.credentials().proof("listening", hello, challenge);
        if (hello.unlink()) {
            forget(hello.self());
            channel.writeHandshake(FrameType.READY, ready);
            return false;
        }
        return link(channel, socket, hello, ready);
    }

    private Outcome<Done> checkHello(Hello hello) {
        if (hello.targetId() != self.clusterId()) {
            return Outcome.failed(
                    LlmStatus.LLM_PARAM_INVALID,
                    "this is cluster %s, not cluster %s"
                            .formatted(
                                    Long.toUnsignedString(self.clusterId()),
                                    Long.toUnsignedString(hello.targetId())));
        }
        if (hello.self().remoteAccess() != config.remoteAccess()) {
            return Outcome.failed(
                    LlmStatus.LLM_PARAM_INVALID,
                    "llm.EnableRemoteCacheAccessible differs: %s there, %s here"
                            .formatted(hello.self().remoteAccess(), config.remoteAccess()));
        }
        if (hello.self().secureData() != config.secureData()) {
            return Outcome.failed(
                    LlmStatus.LLM_LINK_FAILED,
                    "llm.DataTls differs: %s there, %s here"
                            .formatted(
                                    hello.self().secureData() ? 1 : 0,
                                    config.secureData() ? 1 : 0));
        }
        return Outcome.done();
    }

    private boolean refuse(ControlChannel channel, Hello hello, Outcome<?> refusal)
            throws IOException {
        meters.attempt("accept", refusal);
        LOG.log(
                Level.INFO,
                "link-refused peer=%s reason=%s".formatted(hello.self().idText(), refusal));
        channel.writeHandshake(FrameType.STATUS, StatusMessage.encode(refusal));
        return false;
    }

    private void forget(Peer peer) {
        Link link = table.find(peer.clusterId());
        Peer known = link == null ? null : link.peerOrNull();
        if (link != null && known != null && known.incarnation() == peer.incarnation()) {
            table.remove(link);
            if (link.retire(
                    Outcome.failed(LlmStatus.LLM_NOT_YET_LINK, "the peer gave the link up"))) {
                events.changed(link);
            }
        }
    }

    private boolean link(ControlChannel channel, Socket socket, Hello hello, ByteString ready)
            throws IOException {
        String address = String.valueOf(socket.getRemoteSocketAddress());
        Outcome<LinkTable.Accepted> place = place(hello, address);
        if (place instanceof Outcome.Failed<LinkTable.Accepted> refusal) {
            return refuse(channel, hello, refusal);
        }
        LinkTable.Accepted accepted = place.orThrow();
        replace(accepted.replaced());
        Link link = accepted.link();
        boolean active = false;
        try {
            channel.writeHandshake(FrameType.READY, ready);
            socket.setSoTimeout(0);
            active = link.activate(channel, hello.self(), false);
        } finally {
            if (!active) {
                table.remove(link);
                link.retire(
                        Outcome.failed(LlmStatus.LLM_NOT_YET_LINK, "the handshake did not end"));
            }
        }
        if (active) {
            meters.attempt("accept", Outcome.done());
            events.opened(link);
        }
        return active;
    }

    private void replace(@Nullable Link replaced) {
        if (replaced != null
                && replaced.retire(
                        Outcome.failed(
                                LlmStatus.LLM_NOT_YET_LINK,
                                "the peer has made a new link in the place of this one"))) {
            LOG.log(Level.INFO, "link-replaced peer=" + replaced);
            events.changed(replaced);
        }
    }

    /**
     * An active link makes room only when nobody answers on it any more. Who has lost his end has
     * closed it, so that this is found out at once; a peer whose dial has crossed ours answers.
     */
    private Outcome<LinkTable.Accepted> place(Hello hello, String address) {
        Outcome<LinkTable.Accepted> place = table.accept(hello.self(), address, null);
        if (!(place instanceof Outcome.Failed<LinkTable.Accepted> failed)
                || failed.code() != LlmStatus.LLM_LINK_BUSY) {
            return place;
        }
        Link present = table.find(hello.self().clusterId());
        if (present == null) {
            return table.accept(hello.self(), address, null);
        }
        ControlChannel channel = present.channelOrNull();
        long budget = Math.min(PROBE.toNanos(), hello.budgetMillis() * 500_000L);
        boolean alive =
                channel != null
                        && channel.request(FrameType.PING, ByteString.EMPTY, clock.nanos() + budget)
                                .isOk();
        if (!alive) {
            return table.accept(hello.self(), address, present);
        }
        boolean same = present.peer().incarnation() == hello.self().incarnation();
        return Outcome.failed(
                LlmStatus.LLM_ALREADY_LINK,
                same
                        ? present + " is linked, and its link is alive"
                        : "another living instance of %s is linked here: cluster ids have to be unique"
                                .formatted(present));
    }
}
