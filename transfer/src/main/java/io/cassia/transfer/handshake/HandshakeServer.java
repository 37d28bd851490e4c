package io.cassia.transfer.handshake;

import io.cassia.base.AcceptLoop;
import io.cassia.base.Clock;
import io.cassia.transfer.net.PlainWire;
import io.cassia.transfer.net.PortBinder;
import io.cassia.transfer.net.Watchdog;
import io.cassia.transfer.net.Wire;
import io.cassia.transfer.net.tls.Gate;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Answers peers on the handshake port: one exchange per connection, each on a virtual thread of its
 * own, so that a slow peer delays nobody (spec 6). Guarded.
 *
 * <p>The descriptor is told in every mode; upstream tells it only where no metadata store is in
 * use.
 *
 * <p>Whoever breaks the frame, is slow, or sends no JSON is closed without an answer; {@code
 * cassia.transfer.handshake.dropped} says why and how often.
 */
public final class HandshakeServer implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(HandshakeServer.class.getName());
    private static final int MAX_EXCHANGES = 1024;
    private static final long MAX_LINGER_BYTES = 1 << 20;
    private static final Duration ACCEPT_PAUSE = Duration.ofMillis(100);

    private final ServerSocketChannel listener;
    private final Gate gate;
    private final Supplier<String> descriptor;
    private final Inbox inbox;
    private final long maxRequestBytes;
    private final Duration timeout;
    private final Watchdog watchdog;
    private final Clock clock;
    private final MeterRegistry meters;
    private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();
    private final Thread acceptor;

    private HandshakeServer(
            ServerSocketChannel listener,
            Gate gate,
            Supplier<String> descriptor,
            Inbox inbox,
            long maxRequestBytes,
            Duration timeout,
            Watchdog watchdog,
            Clock clock,
            MeterRegistry meters) {
        this.listener = listener;
        this.gate = gate;
        this.descriptor = descriptor;
        this.inbox = inbox;
        this.maxRequestBytes = maxRequestBytes;
        this.timeout = timeout;
        this.watchdog = watchdog;
        this.clock = clock;
        this.meters = meters;
        this.acceptor =
                Thread.ofPlatform()
                        .daemon()
                        .name("cassia-handshake-" + port(listener))
                        .unstarted(() -> AcceptLoop.run(listener, this::serve, this::acceptFailed));
    }

    /**
     * Serves a bound listener, which it owns from now on.
     *
     * @param gate where each connection begins
     * @param descriptor text of the segment descriptor, asked for with each metadata request
     * @param maxRequestBytes longest request that is read
     * @param timeout for one whole exchange
     */
    public static HandshakeServer start(
            ServerSocketChannel listener,
            Gate gate,
            Supplier<String> descriptor,
            Inbox inbox,
            long maxRequestBytes,
            Duration timeout,
            Watchdog watchdog,
            Clock clock,
            MeterRegistry meters) {
        HandshakeServer server =
                new HandshakeServer(
                        listener,
                        gate,
                        descriptor,
                        inbox,
                        maxRequestBytes,
                        timeout,
                        watchdog,
                        clock,
                        meters);
        server.acceptor.start();
        return server;
    }

    private void acceptFailed(Throwable e) {
        dropped("accept-failed");
        LOG.log(System.Logger.Level.WARNING, "handshake-accept-failed", e);
        LockSupport.parkNanos(ACCEPT_PAUSE.toNanos());
    }

    private void serve(SocketChannel channel) throws IOException {
        if (open.size() >= MAX_EXCHANGES) {
            channel.close();
            dropped("too-many");
            return;
        }
        open.add(channel);
        try {
            Thread.ofVirtual().name("cassia-handshake").start(() -> exchange(channel));
        } catch (RuntimeException | OutOfMemoryError e) {
            open.remove(channel);
            throw e;
        }
    }

    private void exchange(SocketChannel channel) {
        try (channel) {
            switch (gate.admit(channel, "handshake")) {
                case Gate.Visitor.Admitted(Wire wire) -> exchange(wire, wire.input(), this::reply);
                case Gate.Visitor.Unwelcome(ByteBuffer received, Gate.Refusal why) -> {
                    dropped(why.label());
                    PlainWire wire = new PlainWire(channel);
                    byte[] start = new byte[received.remaining()];
                    received.get(start);
                    InputStream in =
                            new SequenceInputStream(new ByteArrayInputStream(start), wire.input());
                    exchange(wire, in, request -> refusal(request, why));
                }
                case Gate.Visitor.Refused() -> dropped("refused");
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "handshake-close-failed", e);
        } finally {
            open.remove(channel);
        }
    }

    /** Makes the reply frame; null when the request is no JSON. */
    private interface Answerer {
        byte @Nullable [] reply(byte[] request);
    }

    private void exchange(Wire wire, InputStream in, Answerer answerer) {
        try (Watchdog.Watch watch = watchdog.watch(wire::close)) {
            watch.arm(clock.nanos() + timeout.toNanos());
            String reason = exchange(wire, in, answerer, watch);
            if (!reason.isEmpty()) {
                dropped(watch.isExpired() ? "timeout" : reason);
            }
        }
    }

    /** Why it ended without an answer; empty when it was answered. */
    private String exchange(Wire wire, InputStream in, Answerer answerer, Watchdog.Watch watch) {
        try {
            byte[] request = new FrameReader(in, maxRequestBytes).next();
            if (request == null) {
                return "empty";
            }
            byte[] reply = answerer.reply(request);
            if (reply == null) {
                return "malformed-json";
            }
            wire.write(ByteBuffer.wrap(reply));
            wire.shutdownOutput();
            lingerUntilClosed(in, watch);
            return "";
        } catch (FrameReader.BadFrameException e) {
            return "bad-frame";
        } catch (IOException e) {
            return listener.isOpen() ? "io" : "shutdown";
        }
    }

    private static byte[] refusal(byte[] request, Gate.Refusal why) {
        String text = MessageCodec.refusal(why.text());
        return FrameLayout.isType(request[0])
                ? FrameLayout.typed(request[0], text)
                : FrameLayout.typeless(text);
    }

    /**
     * Lets the peer close first: closing with bytes unread, which whatever it sends now would be,
     * resets the connection and may take the reply with it. The answer is out, so how this ends
     * does not matter.
     */
    private static void lingerUntilClosed(InputStream in, Watchdog.Watch watch) {
        try {
            in.skipNBytes(MAX_LINGER_BYTES);
        } catch (IOException e) {
            LOG.log(System.Logger.Level.TRACE, "handshake-ended expired={0}", watch.isExpired());
        }
    }

    /** The reply frame; null when the request is no JSON. */
    private byte @Nullable [] reply(byte[] request) {
        boolean typed = FrameLayout.isType(request[0]);
        Optional<JsonNode> body = MessageCodec.parse(request, typed ? 1 : 0);
        if (body.isEmpty()) {
            return null;
        }
        if (!typed) {
            answered("typeless");
            return FrameLayout.typeless(MessageCodec.NO_RDMA);
        }
        byte type = request[0];
        String text =
                switch (type) {
                    case FrameLayout.METADATA -> {
                        answered("metadata");
                        yield descriptor.get();
                    }
                    case FrameLayout.NOTIFY -> notify(body.get());
                    case FrameLayout.PROBE -> {
                        answered("probe");
                        yield MessageCodec.PROBE_SUCCESS;
                    }
                    default -> {
                        answered("connection");
                        yield MessageCodec.NO_RDMA;
                    }
                };
        return FrameLayout.typed(type, text);
    }

    private String notify(JsonNode body) {
        boolean queued =
                inbox.offer(
                        new Inbox.Message(
                                MessageCodec.member(body, "name"),
                                MessageCodec.member(body, "notify_msg")));
        if (queued) {
            answered("notify");
        } else {
            dropped("inbox-full");
        }
        return MessageCodec.notifyReply(queued);
    }

    private static String port(ServerSocketChannel listener) {
        return Integer.toString(listener.socket().getLocalPort());
    }

    private void answered(String type) {
        Counter.builder("cassia.transfer.handshake.exchanges")
                .description("Handshake requests answered, by type")
                .tag("type", type)
                .register(meters)
                .increment();
    }

    private void dropped(String reason) {
        Counter.builder("cassia.transfer.handshake.dropped")
                .description("Handshake connections closed without an answer, by reason")
                .tag("reason", reason)
                .register(meters)
                .increment();
    }

    @Override
    public void close() {
        PortBinder.close(listener, acceptor);
        open.forEach(PlainWire::close);
    }
}
