package io.cassia.transfer.net.tls;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.net.PeerFilter;
import io.cassia.transfer.net.PlainWire;
import io.cassia.transfer.net.Watchdog;
import io.cassia.transfer.net.Wire;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLException;

/**
 * Where connections begin, on both sides: each peer proves who it is before a byte of ours moves.
 * Guarded. An open gate lets everybody pass.
 */
public final class Gate {
    private static final System.Logger LOG = System.getLogger(Gate.class.getName());

    private final Optional<Credentials> credentials;
    private final PeerFilter invited;
    private final Watchdog watchdog;
    private final Clock clock;
    private final Duration timeout;
    private final AtomicLong refusals = new AtomicLong();

    /**
     * A gate.
     *
     * @param credentials nothing: it is open
     * @param invited from where peers may come
     * @param timeout for a peer that comes, to prove itself
     */
    public Gate(
            Optional<Credentials> credentials,
            PeerFilter invited,
            Watchdog watchdog,
            Clock clock,
            Duration timeout) {
        this.credentials = credentials;
        this.invited = invited;
        this.watchdog = watchdog;
        this.clock = clock;
        this.timeout = timeout;
    }

    /** Why a peer that came is told to go. */
    public enum Refusal {
        /** It speaks plainly to an engine in secure mode. */
        PLAIN("this engine is in secure mode and serves no plain peer"),
        /** It comes from a network that it may not come from. */
        NETWORK("this engine does not serve peers of your network");

        private final String text;

        Refusal(String text) {
            this.text = text;
        }

        /** For metrics. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** For the peer's people. */
        public String text() {
            return text;
        }
    }

    /** What a peer that came is. */
    public sealed interface Visitor {
        /**
         * One that may speak. Immutable.
         *
         * @param wire how
         */
        record Admitted(Wire wire) implements Visitor {}

        /**
         * One that may not pass and is owed an answer in its own, plain protocol. Immutable.
         *
         * @param received what it has said
         * @param why the answer
         */
        record Unwelcome(ByteBuffer received, Refusal why) implements Visitor {}

        /** One that is not worth an answer, and whose connection is closed. Immutable. */
        record Refused() implements Visitor {}
    }

    /**
     * Proves ourselves to a peer that we have connected to, and has it prove itself.
     * ERR_REJECT_HANDSHAKE when one does not accept the other, ERR_SOCKET when the connection
     * breaks or the deadline is over; then it is closed.
     */
    public Outcome<Wire> enter(SocketChannel channel, String host, int port, long deadlineNanos) {
        if (credentials.isEmpty()) {
            return Outcome.ok(new PlainWire(channel));
        }
        try (Watchdog.Watch watch = watchdog.watch(() -> PlainWire.reset(channel))) {
            watch.arm(deadlineNanos);
            TlsWire wire =
                    new TlsWire(
                            channel, credentials.get().client(host, port), ByteBuffer.allocate(0));
            Outcome<Wire> entered = enter(wire, credentials.get());
            if (entered.isOk() && watch.disarm()) {
                return entered;
            }
            PlainWire.close(channel);
            return watch.isExpired()
                    ? Outcome.failed(
                            TransferCode.ERR_SOCKET,
                            "%s port %d did not answer the TLS handshake in time"
                                    .formatted(host, port))
                    : entered;
        }
    }

    private static Outcome<Wire> enter(TlsWire wire, Credentials credentials) {
        try {
            wire.handshake();
            credentials.proof().asClient(wire);
            return Outcome.ok(wire);
        } catch (SSLException e) {
            return rejected(reason(e));
        } catch (ClusterProof.RefusedException e) {
            return rejected(String.valueOf(e.getMessage()));
        } catch (java.io.EOFException e) {
            return rejected("the peer closed during the TLS handshake; is it in secure mode?");
        } catch (IOException e) {
            // A plain engine resets what it does not understand.
            return "Connection reset".equals(e.getMessage())
                    ? rejected("the peer reset the TLS handshake; is it in secure mode?")
                    : Outcome.failed(TransferCode.ERR_SOCKET, "TLS handshake: " + e);
        }
    }

    private static Outcome<Wire> rejected(String why) {
        return Outcome.failed(TransferCode.ERR_REJECT_HANDSHAKE, "secure mode: " + why);
    }

    /** The reason that a person can do something about is often the innermost one. */
    private static String reason(Throwable e) {
        StringBuilder reason = new StringBuilder(String.valueOf(e.getMessage()));
        for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
            reason.append("; ").append(cause.getMessage());
        }
        return reason.toString();
    }

    /**
     * Has a peer that connected to us prove itself.
     *
     * @param port which of our ports, for the log
     */
    public Visitor admit(SocketChannel channel, String port) {
        if (!invited.isOpen() && !isInvited(channel)) {
            if (credentials.isPresent()) {
                return refused(channel, port, "network");
            }
            log(channel, port, "network");
            return new Visitor.Unwelcome(ByteBuffer.allocate(0), Refusal.NETWORK);
        }
        if (credentials.isEmpty()) {
            return new Visitor.Admitted(new PlainWire(channel));
        }
        try (Watchdog.Watch watch = watchdog.watch(() -> PlainWire.reset(channel))) {
            watch.arm(clock.nanos() + timeout.toNanos());
            Visitor visitor = admit(channel, port, credentials.get());
            return watch.disarm() ? visitor : refused(channel, port, "silent");
        }
    }

    private boolean isInvited(SocketChannel channel) {
        try {
            SocketAddress from = channel.getRemoteAddress();
            return from != null && invited.allows(from);
        } catch (IOException e) {
            // It has gone already.
            return false;
        }
    }

    private Visitor admit(SocketChannel channel, String port, Credentials known) {
        ByteBuffer received = ByteBuffer.allocate(HelloLayout.MIN_BYTES);
        try {
            while (received.hasRemaining()) {
                if (channel.read(received) < 0) {
                    PlainWire.close(channel);
                    return new Visitor.Refused();
                }
            }
            received.flip();
            if (!HelloLayout.isHello(received)) {
                log(channel, port, "plain");
                return new Visitor.Unwelcome(received, Refusal.PLAIN);
            }
            TlsWire wire = new TlsWire(channel, known.server(), received);
            wire.handshake();
            known.proof().asServer(wire);
            return new Visitor.Admitted(wire);
        } catch (SSLException e) {
            return refused(channel, port, reason(e));
        } catch (IOException e) {
            return refused(channel, port, String.valueOf(e.getMessage()));
        }
    }

    private Visitor refused(SocketChannel channel, String port, String why) {
        log(channel, port, why);
        PlainWire.close(channel);
        return new Visitor.Refused();
    }

    /** At the first, second, fourth, ... time: a stranger must not fill the log. */
    private void log(SocketChannel channel, String port, String why) {
        long count = refusals.incrementAndGet();
        if (Long.bitCount(count) == 1) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "peer-refused port={0} peer={1} reason=\"{2}\" refusals={3}",
                    port,
                    remote(channel),
                    why.replace('"', '\''),
                    Long.toString(count));
        }
    }

    private static String remote(SocketChannel channel) {
        try {
            return String.valueOf(channel.getRemoteAddress());
        } catch (IOException e) {
            return "gone";
        }
    }
}
