package io.cassia.rpc;

import io.cassia.base.Clock;
import io.cassia.base.Spin;
import io.cassia.rpc.ServerMetrics.Closed;
import io.cassia.rpc.ServerMetrics.Rejected;
import io.cassia.rpc.pack.MalformedBodyException;
import io.cassia.rpc.pack.WireReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One accepted connection: reads what is there, decodes all complete requests, handles them as one
 * batch, and answers them with one write. Confined to its thread, except {@link #finish}, {@link
 * #abort} and {@link #checkStall}.
 */
final class ServerConnection implements Runnable {
    private static final System.Logger LOG = System.getLogger(ServerConnection.class.getName());

    private static final int INITIAL_BYTES = 1024;
    private static final int MAX_BATCH = 512;
    private static final long BUSY = Long.MIN_VALUE;
    private static final long LOG_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final SocketChannel channel;
    private final InputStream arrivals;
    private final Spin spin;
    private final SocketAddress peer;
    private final DispatchTable methods;
    private final ServerLimits limits;
    private final BatchGate gate;
    private final ServerMetrics metrics;
    private final Clock clock;
    private final InputBuffer input;
    private final ResponseWriter output;
    private final WireReader reader = new WireReader();
    private @Nullable PendingCall[] batch = new PendingCall[4];
    private int batched;
    private long nextLogNanos;

    /** Why the connection must end after the current batch. */
    private @Nullable Closed ending;

    private volatile boolean finishing;

    /** Why the watch has closed the connection. */
    private volatile @Nullable Closed cut;

    /** When the wait for the next message began; {@link #BUSY} when there is none, or no limit. */
    private volatile long idleSince = BUSY;

    /** The same for the rest of a long message. */
    private volatile long restAwaitedSince = BUSY;

    ServerConnection(
            SocketChannel channel,
            DispatchTable methods,
            ServerLimits limits,
            BatchGate gate,
            ServerMetrics metrics,
            Clock clock,
            int steadyBytes,
            InputMemory memory)
            throws IOException {
        this.channel = channel;
        this.peer = channel.getRemoteAddress();
        this.arrivals = channel.socket().getInputStream();
        this.spin = new Spin(clock);
        this.methods = methods;
        this.limits = limits;
        this.gate = gate;
        this.metrics = metrics;
        this.clock = clock;
        this.input = new InputBuffer(INITIAL_BYTES, steadyBytes, memory);
        this.output = new ResponseWriter(channel, limits, metrics, clock, steadyBytes);
    }

    /** Serves until the connection ends. Never throws. */
    @Override
    public void run() {
        Closed reason = Closed.INTERNAL_ERROR;
        try {
            reason = serve();
        } catch (InputBuffer.OutOfInputMemoryException e) {
            reason = Closed.OUT_OF_MEMORY;
            LOG.log(
                    System.Logger.Level.WARNING,
                    "rpc connection closed peer={0} cause={1}",
                    peer,
                    e.getMessage());
        } catch (IOException e) {
            Closed asCut = cut;
            reason = asCut != null ? asCut : finishing ? Closed.SHUTDOWN : Closed.IO_ERROR;
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "rpc connection failed peer=" + peer, e);
        } finally {
            input.close();
            metrics.closed(reason);
            abort();
        }
    }

    private Closed serve() throws IOException {
        while (true) {
            int count = await();
            if (count < 0) {
                if (finishing) {
                    return Closed.SHUTDOWN;
                }
                return input.available() == 0 ? Closed.PEER_CLOSED : Closed.TRUNCATED_FRAME;
            }
            metrics.received(count);
            do {
                decodeBatch();
                handleBatch();
                answerBatch();
            } while (ending == null && batched == MAX_BATCH);
            if (ending != null) {
                if (ending == Closed.MESSAGE_TOO_LARGE) {
                    letPeerRead();
                }
                return ending;
            }
        }
    }

    /** Reads what comes next; the rest of a long message, which has memory, may not take long. */
    private int await() throws IOException {
        boolean _ = spin.sees(arrivals);
        if (limits.idle().isZero() && !input.isLarge()) {
            return input.read(channel);
        }
        // One of them: who looks in between must not take a long silence for a rest that is late.
        if (input.isLarge()) {
            restAwaitedSince = clock.nanos();
        } else {
            idleSince = clock.nanos();
        }
        int count = input.read(channel);
        restAwaitedSince = BUSY;
        idleSince = BUSY;
        return count;
    }

    /** Decodes complete requests until there is none, or the batch is full, or one is fatal. */
    private void decodeBatch() {
        batched = 0;
        while (batched < MAX_BATCH
                && ending == null
                && input.available() >= FrameLayout.REQUEST_BYTES) {
            byte[] bytes = input.array();
            int at = input.start();
            if (!acceptsHeader(bytes, at)) {
                return;
            }
            int body = LittleEndian.i32(bytes, at + FrameLayout.REQUEST_BODY);
            int attachment = LittleEndian.i32(bytes, at + FrameLayout.REQUEST_ATTACHMENT);
            if (isTooLarge(bytes, at, body, attachment)) {
                return;
            }
            int frame = FrameLayout.REQUEST_BYTES + body + attachment;
            if (input.available() < frame) {
                return;
            }
            decode(bytes, at, body, attachment);
            input.consume(frame);
        }
    }

    private boolean acceptsHeader(byte[] bytes, int at) {
        if ((LittleEndian.i32(bytes, at) & 0xff_ffff) == FrameLayout.MAGIC) {
            return true;
        }
        if (bytes[at] != FrameLayout.MAGIC) {
            ending = Closed.BAD_MAGIC;
        } else if (bytes[at + FrameLayout.VERSION] != 0) {
            ending = Closed.BAD_VERSION;
        } else {
            ending = Closed.BAD_SERIALIZE_TYPE;
        }
        return false;
    }

    private boolean isTooLarge(byte[] bytes, int at, int body, int attachment) {
        boolean bodyFits = Integer.compareUnsigned(body, limits.maxBodyBytes()) <= 0;
        if (bodyFits && Integer.compareUnsigned(attachment, limits.maxAttachmentBytes()) <= 0) {
            return false;
        }
        metrics.rejected(Rejected.MESSAGE_TOO_LARGE);
        ending = Closed.MESSAGE_TOO_LARGE;
        String text =
                bodyFits
                        ? "an attachment of %s bytes; the server takes %d"
                                .formatted(
                                        Integer.toUnsignedString(attachment),
                                        limits.maxAttachmentBytes())
                        : "a body of %s bytes; the server takes %d"
                                .formatted(Integer.toUnsignedString(body), limits.maxBodyBytes());
        int sequence = LittleEndian.i32(bytes, at + FrameLayout.SEQUENCE);
        next().refuse(sequence, RpcError.MESSAGE_TOO_LARGE, text);
        return true;
    }

    private void decode(byte[] bytes, int at, int body, int attachment) {
        int sequence = LittleEndian.i32(bytes, at + FrameLayout.SEQUENCE);
        Registration<?, ?> method =
                methods.find(LittleEndian.i32(bytes, at + FrameLayout.FUNCTION));
        if (method == null) {
            metrics.rejected(Rejected.UNKNOWN_FUNCTION);
            next().refuse(sequence, RpcError.NOT_REGISTERED, RpcError.NOT_REGISTERED.text());
            return;
        }
        int bodyAt = at + FrameLayout.REQUEST_BYTES;
        try {
            Object arguments = method.decode(reader.reset(bytes, bodyAt, body));
            Attachment extension = extension(bytes, bodyAt + body, attachment);
            next().accept(sequence, method, arguments, extension, peer);
        } catch (MalformedBodyException | IllegalArgumentException e) {
            // The latter is a message's own opinion of its fields.
            metrics.rejected(Rejected.INVALID_ARGUMENTS);
            next().refuse(sequence, RpcError.INVALID_ARGUMENTS, RpcError.INVALID_ARGUMENTS.text());
        }
    }

    private Attachment extension(byte[] bytes, int at, int length) {
        if (length == 0) {
            return Attachment.NONE;
        }
        Optional<Attachment> parsed = Attachment.parse(bytes, at, length);
        if (parsed.isEmpty()) {
            metrics.rejected(Rejected.BAD_ATTACHMENT);
        }
        return parsed.orElse(Attachment.NONE);
    }

    private PendingCall next() {
        if (batched == batch.length) {
            batch = Arrays.copyOf(batch, 2 * batched);
        }
        PendingCall call = batch[batched];
        if (call == null) {
            call = new PendingCall();
            batch[batched] = call;
        }
        batched++;
        return call;
    }

    private PendingCall at(int index) {
        return Objects.requireNonNull(batch[index]);
    }

    private void handleBatch() {
        if (batched == 0) {
            return;
        }
        gate.enter();
        try {
            for (int i = 0; i < batched; i++) {
                handle(at(i));
            }
        } finally {
            gate.exit();
        }
    }

    @SuppressWarnings("CatchingUnchecked") // A handler's bug must not end other calls.
    private void handle(PendingCall call) {
        try {
            call.handle();
        } catch (RuntimeException | StackOverflowError e) {
            metrics.rejected(Rejected.HANDLER_EXCEPTION);
            logNowAndThen(call, e);
            call.fail(RpcError.THROW_EXCEPTION, call.methodName() + " failed: " + e);
        }
    }

    /** A peer that provokes a bug at full speed must not fill the log: the counter has the rest. */
    private void logNowAndThen(PendingCall call, Throwable cause) {
        long now = clock.nanos();
        if (nextLogNanos != 0 && nextLogNanos - now > 0) {
            return;
        }
        nextLogNanos = now + LOG_PAUSE_NANOS;
        LOG.log(
                System.Logger.Level.ERROR,
                "rpc handler failed method=" + call.methodName() + " peer=" + peer,
                cause);
    }

    private void answerBatch() throws IOException {
        for (int i = 0; i < batched; i++) {
            PendingCall call = at(i);
            output.append(call);
            call.release();
        }
        output.flush();
    }

    /**
     * Takes what the peer is still sending, within limits: closing over unread bytes would reset
     * the connection and take the last answer away from the peer.
     */
    private void letPeerRead() {
        InputBuffer rest = new InputBuffer(INITIAL_BYTES, INITIAL_BYTES, InputMemory.unlimited());
        int left = limits.maxBodyBytes();
        output.expectProgress();
        try {
            channel.shutdownOutput();
            int count = rest.read(channel);
            while (count > 0 && left > 0) {
                left -= count;
                rest.consume(count);
                count = rest.read(channel);
            }
        } catch (IOException e) {
            // The answer was sent; that the peer may not have read it is all that is lost.
            abort();
        }
    }

    /** Ends the connection after the batch in progress. */
    void finish() {
        finishing = true;
        try {
            channel.shutdownInput();
        } catch (IOException e) {
            // Closed already, or broken: its thread ends by itself.
            abort();
        }
    }

    /** Ends the connection now. */
    void abort() {
        try {
            channel.close();
        } catch (IOException e) {
            // Nothing is left to do with it; the descriptor is released all the same.
        }
    }

    /** Ends the connection if its peer takes no answers, or sends nothing, for too long. */
    void checkStall(long nowNanos) {
        if (output.isStalled(nowNanos)) {
            cut(Closed.WRITE_STALL);
        } else if (isOver(restAwaitedSince, limits.writeStall(), nowNanos)) {
            cut(Closed.READ_STALL);
        } else if (isOver(idleSince, limits.idle(), nowNanos)) {
            cut(Closed.IDLE);
        }
    }

    private static boolean isOver(long since, Duration limit, long nowNanos) {
        return since != BUSY && nowNanos - since > limit.toNanos();
    }

    private void cut(Closed why) {
        cut = why;
        abort();
    }
}
