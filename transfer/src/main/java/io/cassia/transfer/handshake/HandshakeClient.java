package io.cassia.transfer.handshake;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.metadata.HostPort;
import io.cassia.transfer.net.Dialer;
import io.cassia.transfer.net.Watchdog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Asks peers on their handshake port, one connection per exchange (spec 6). Guarded: holds no
 * state.
 *
 * <p>Failures: ERR_DNS, ERR_SOCKET (not reachable, closed without an answer, late, or an answer of
 * another type), ERR_MALFORMED_JSON, ERR_METADATA (answered, but not with success).
 */
public final class HandshakeClient {
    /** Longest request that peers read by default. */
    private static final long UPSTREAM_REQUEST_BYTES = 1 << 20;

    /** Longest answer that is read; ten thousand buffers make about one megabyte. */
    private static final long MAX_REPLY_BYTES = 64 << 20;

    private final Dialer dialer;
    private final Watchdog watchdog;
    private final Clock clock;

    public HandshakeClient(Dialer dialer, Watchdog watchdog, Clock clock) {
        this.dialer = dialer;
        this.watchdog = watchdog;
        this.clock = clock;
    }

    /**
     * The peer's segment descriptor as JSON text.
     *
     * @param own descriptor of this engine, a hint that peers may ignore
     */
    public Outcome<String> metadata(HostPort peer, String own, long deadlineNanos) {
        // Upstream drops requests above its limit; the hint is not worth that.
        boolean fits = own.length() < UPSTREAM_REQUEST_BYTES / 4;
        return exchange(peer, FrameLayout.METADATA, fits ? own : "{}", deadlineNanos)
                .map(reply -> MessageCodec.text(reply, 1));
    }

    /** Queues a message at the peer. */
    public Outcome<Done> notify(HostPort peer, String name, String message, long deadlineNanos) {
        return exchange(peer, FrameLayout.NOTIFY, MessageCodec.notify(name, message), deadlineNanos)
                .then(
                        reply ->
                                json(peer, reply)
                                        .then(
                                                body ->
                                                        MessageCodec.isNotifySuccess(body)
                                                                ? Outcome.done()
                                                                : refused(peer, "notification")));
    }

    /** Asks whether the peer's engine answers. */
    public Outcome<Done> probe(HostPort peer, long deadlineNanos) {
        return exchange(peer, FrameLayout.PROBE, "{}", deadlineNanos)
                .then(
                        reply ->
                                json(peer, reply)
                                        .then(
                                                body ->
                                                        MessageCodec.isProbeSuccess(body)
                                                                ? Outcome.done()
                                                                : refused(peer, "probe")));
    }

    private static Outcome<JsonNode> json(HostPort peer, byte[] reply) {
        Optional<JsonNode> body = MessageCodec.parse(reply, 1);
        return body.isPresent()
                ? Outcome.ok(body.get())
                : Outcome.failed(
                        TransferCode.ERR_MALFORMED_JSON, "answer of " + peer + " is no JSON");
    }

    private static Outcome<Done> refused(HostPort peer, String what) {
        return Outcome.failed(
                TransferCode.ERR_METADATA,
                peer + " did not take the " + what + "; try again later");
    }

    private Outcome<byte[]> exchange(HostPort peer, byte type, String body, long deadlineNanos) {
        return switch (dialer.connect(peer.host(), peer.port(), deadlineNanos)) {
            case Outcome.Failed<SocketChannel> failed -> failed.in("handshake with " + peer);
            case Outcome.Ok<SocketChannel>(SocketChannel channel) -> {
                try (channel;
                        Watchdog.Watch watch = watchdog.watch(() -> abort(channel))) {
                    watch.arm(deadlineNanos);
                    yield exchange(peer, channel, watch, type, body);
                } catch (IOException e) {
                    yield socket(peer, "closing failed: " + e);
                }
            }
        };
    }

    private Outcome<byte[]> exchange(
            HostPort peer, SocketChannel channel, Watchdog.Watch watch, byte type, String body) {
        long started = clock.nanos();
        try {
            ByteBuffer request = ByteBuffer.wrap(FrameLayout.typed(type, body));
            while (request.hasRemaining()) {
                channel.write(request);
            }
            byte[] reply =
                    new FrameReader(Channels.newInputStream(channel), MAX_REPLY_BYTES).next();
            if (reply == null) {
                return socket(peer, "closed without an answer");
            }
            if (reply[0] != type) {
                return socket(peer, "answered type " + reply[0] + " to type " + type);
            }
            return Outcome.ok(reply);
        } catch (IOException e) {
            long millis = (clock.nanos() - started) / 1_000_000;
            return socket(
                    peer, watch.isExpired() ? "no answer within " + millis + " ms" : e.toString());
        }
    }

    private static <T> Outcome<T> socket(HostPort peer, String why) {
        return Outcome.failed(
                TransferCode.ERR_SOCKET, "handshake with %s: %s".formatted(peer, why));
    }

    private static void abort(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            System.getLogger(HandshakeClient.class.getName())
                    .log(System.Logger.Level.DEBUG, "handshake-close-failed", e);
        }
    }
}
