package io.cassia.transfer.handshake;

import io.cassia.base.Clock;
import io.cassia.base.HostPort;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.net.Dialer;
import io.cassia.transfer.net.Watchdog;
import io.cassia.transfer.net.Wire;
import io.cassia.transfer.net.tls.Gate;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Asks peers on their handshake port, one connection per exchange (spec 6). Guarded: holds no
 * state.
 *
 * <p>Failures: ERR_DNS, ERR_SOCKET (not reachable, closed without an answer, late, or an answer of
 * another type), ERR_MALFORMED_JSON, ERR_REJECT_HANDSHAKE (one side does not accept the other, for
 * the reason in the detail), ERR_METADATA (answered, but not with success).
 */
public final class HandshakeClient {
    /** Longest request that peers read by default. */
    private static final long UPSTREAM_REQUEST_BYTES = 1 << 20;

    /** Longest answer that is read; ten thousand buffers make about one megabyte. */
    private static final long MAX_REPLY_BYTES = 64 << 20;

    private final Dialer dialer;
    private final Gate gate;
    private final Watchdog watchdog;
    private final Clock clock;

    public HandshakeClient(Dialer dialer, Gate gate, Watchdog watchdog, Clock clock) {
        this.dialer = dialer;
        this.gate = gate;
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
        Outcome<Wire> connected =
                dialer.connect(peer.host(), peer.port(), deadlineNanos)
                        .then(
                                channel ->
                                        gate.enter(
                                                channel, peer.host(), peer.port(), deadlineNanos));
        return switch (connected) {
            case Outcome.Failed<Wire> failed -> failed.in("handshake with " + peer);
            case Outcome.Ok<Wire>(Wire wire) -> {
                try (wire;
                        Watchdog.Watch watch = watchdog.watch(wire::reset)) {
                    watch.arm(deadlineNanos);
                    yield exchange(peer, wire, watch, type, body);
                }
            }
        };
    }

    private Outcome<byte[]> exchange(
            HostPort peer, Wire wire, Watchdog.Watch watch, byte type, String body) {
        long started = clock.nanos();
        try {
            wire.write(ByteBuffer.wrap(FrameLayout.typed(type, body)));
            byte[] reply = new FrameReader(wire.input(), MAX_REPLY_BYTES).next();
            if (reply == null) {
                return socket(peer, "closed without an answer");
            }
            if (reply[0] != type) {
                return socket(peer, "answered type " + reply[0] + " to type " + type);
            }
            Optional<String> refusal = MessageCodec.refusal(reply, 1);
            return refusal.isPresent()
                    ? Outcome.failed(
                            TransferCode.ERR_REJECT_HANDSHAKE, peer + " says: " + refusal.get())
                    : Outcome.ok(reply);
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
}
