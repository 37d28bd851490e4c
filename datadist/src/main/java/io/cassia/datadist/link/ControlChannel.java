package io.cassia.datadist.link;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.Spin;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.net.Socket;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * One control connection: requests and answers of both sides, mixed. Guarded.
 *
 * <p>Answers find their request by its number. Who waits no longer has taken its number away, so a
 * late answer is dropped and counted, and never taken for the answer to something else. A write
 * that the peer does not take is ended by {@link #closeIfOverdue}.
 *
 * <p>Who expects something at once stays awake for a moment ({@link Spin}): the reader thread after
 * a request, which others follow often, and callers for as long as they say.
 */
public final class ControlChannel {
    /** Longest content of a message. */
    public static final int MAX_BODY_BYTES = FrameLayout.MAX_BODY_BYTES;

    private static final System.Logger LOG = System.getLogger(ControlChannel.class.getName());
    private static final long NEVER = Long.MAX_VALUE;

    /** Number of requests that nobody awaits an answer to. */
    private static final long NO_ANSWER = 0;

    /** What happens with requests of the peer, on the channel's reader thread. */
    public interface Receiver {
        void onRequest(ControlChannel channel, Frame request);

        void onClosed(ControlChannel channel, Outcome.Failed<?> reason);
    }

    /** A request without its answer. Guarded. */
    private record Waiting<T>(Function<Frame, T> reader, CompletableFuture<Outcome<T>> answer) {
        /** An answer that breaks the protocol fails the request, and then the connection. */
        void take(Frame frame) {
            T read;
            try {
                read = reader.apply(frame);
            } catch (RuntimeException e) {
                fail(reason(e));
                throw e;
            }
            boolean _ = answer.complete(Outcome.ok(read));
        }

        void fail(Outcome.Failed<?> reason) {
            boolean _ = answer.complete(reason.as());
        }
    }

    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;
    private final Clock clock;
    private final LinkMeters meters;
    private final ReentrantLock writing = new ReentrantLock();
    private final Map<Long, Waiting<?>> waiting = new ConcurrentHashMap<>();
    private final AtomicLong lastRequest = new AtomicLong();
    private final AtomicReference<Outcome.@Nullable Failed<?>> closed = new AtomicReference<>();
    private final boolean plain;
    private final Spin readerSpin;
    private final Spin callerSpin;
    private final AtomicBoolean callerLooks = new AtomicBoolean();
    private volatile long lastReceivedNanos;
    private volatile long writeDeadlineNanos = NEVER;

    /**
     * @param socket what is closed at the end
     * @param streams where bytes go, the same socket or a TLS layer upon it
     */
    ControlChannel(Socket socket, Socket streams, Clock clock, LinkMeters meters)
            throws IOException {
        this.socket = socket;
        this.in = new DataInputStream(new BufferedInputStream(streams.getInputStream(), 16 << 10));
        this.out = streams.getOutputStream();
        this.plain = !(streams instanceof SSLSocket);
        this.readerSpin = new Spin(clock);
        this.callerSpin = new Spin(clock);
        this.clock = clock;
        this.meters = meters;
        this.lastReceivedNanos = clock.nanos();
    }

    /** Reads one frame on the calling thread; before {@link #start} only. */
    Frame readHandshake() throws IOException {
        return FrameLayout.read(in, FrameLayout.MAX_HANDSHAKE_BODY_BYTES);
    }

    /** Writes one frame on the calling thread; before {@link #start} only. */
    void writeHandshake(FrameType type, ByteString body) throws IOException {
        out.write(FrameLayout.encode(new Frame(type, 0, false, body)));
        out.flush();
    }

    /** Begins to read. The thread ends with the connection. */
    void start(String name, Receiver receiver) {
        lastReceivedNanos = clock.nanos();
        Thread.ofPlatform().daemon().name(name).start(() -> read(receiver));
    }

    private void read(Receiver receiver) {
        Outcome.Failed<?> reason;
        try {
            while (true) {
                Frame frame = FrameLayout.read(in, FrameLayout.MAX_BODY_BYTES);
                lastReceivedNanos = clock.nanos();
                if (frame.answer()) {
                    answer(frame);
                } else {
                    receiver.onRequest(this, frame);
                    stayAwake();
                }
            }
        } catch (IOException e) {
            reason = Outcome.failed(LlmStatus.LLM_FAILED, "connection lost: " + text(e));
        } catch (RuntimeException e) {
            reason = reason(e);
            if (!(e instanceof WireReader.Malformed)) {
                LOG.log(Level.ERROR, "control-reader failed", e);
            }
        }
        receiver.onClosed(this, end(reason));
    }

    /** Bytes below a TLS layer cannot be seen from here. */
    private void stayAwake() throws IOException {
        if (plain) {
            boolean _ = readerSpin.sees(in);
        }
    }

    private static Outcome.Failed<?> reason(RuntimeException e) {
        return Outcome.failed(
                LlmStatus.LLM_FAILED,
                e instanceof WireReader.Malformed
                        ? "the peer broke the protocol: " + e.getMessage()
                        : "unexpected: " + e);
    }

    private void answer(Frame frame) {
        Waiting<?> request = waiting.remove(frame.requestId());
        if (request == null) {
            meters.lateAnswer();
        } else {
            request.take(frame);
        }
    }

    /** A request whose answer may be any frame, of who sleeps at once. */
    public Outcome<Frame> request(FrameType type, ByteString body, long deadlineNanos) {
        return request(type, body, deadlineNanos, 0, Function.identity());
    }

    /** A request that is answered by an outcome: the peer's word, inside of the connection's. */
    public Outcome<Outcome<Done>> ask(
            FrameType type, ByteString body, long deadlineNanos, long awakeNanos) {
        return request(type, body, deadlineNanos, awakeNanos, StatusMessage::answer);
    }

    /**
     * Sends a request and waits for its answer. {@code LLM_WAIT_PROC_TIMEOUT} when none came by the
     * deadline; the reason of the close when the connection ended.
     *
     * @param awakeNanos how long the calling thread stays awake over it at most
     * @param reader makes something of the answer, on the reader thread; {@link
     *     WireReader.Malformed} ends the connection
     */
    public <T> Outcome<T> request(
            FrameType type,
            ByteString body,
            long deadlineNanos,
            long awakeNanos,
            Function<Frame, T> reader) {
        long id = lastRequest.incrementAndGet();
        CompletableFuture<Outcome<T>> answer = new CompletableFuture<>();
        waiting.put(id, new Waiting<>(reader, answer));
        try {
            if (send(new Frame(type, id, false, body), deadlineNanos)
                    instanceof Outcome.Failed<Done> lost) {
                return lost.as();
            }
            lookFor(answer, awakeNanos);
            return answer.get(Math.max(1, deadlineNanos - clock.nanos()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return Outcome.failed(
                    LlmStatus.LLM_WAIT_PROC_TIMEOUT, "no answer to " + type + " by the deadline");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Outcome.failed(LlmStatus.LLM_FAILED, "interrupted while waiting for the peer");
        } catch (ExecutionException e) {
            throw new IllegalStateException("answers never complete exceptionally", e);
        } finally {
            waiting.remove(id);
        }
    }

    /** One caller at a time: the others leave the cores to it. */
    private void lookFor(CompletableFuture<?> answer, long awakeNanos) {
        if (awakeNanos > 0 && callerLooks.compareAndSet(false, true)) {
            try {
                boolean _ = callerSpin.sees(answer::isDone, awakeNanos);
            } finally {
                callerLooks.set(false);
            }
        }
    }

    /**
     * Answers a request, unless its sender awaits no answer; a connection that ended meanwhile is
     * told to the receiver anyway.
     */
    public void answer(Frame request, FrameType type, ByteString body) {
        if (request.requestId() == NO_ANSWER) {
            return;
        }
        long deadline = clock.nanos() + TimeUnit.SECONDS.toNanos(5);
        Frame answer = new Frame(type, request.requestId(), true, body);
        if (!send(answer, deadline).isOk()) {
            meters.lostAnswer();
        }
    }

    /** Answers a request with an outcome. */
    public void answer(Frame request, Outcome<?> outcome) {
        answer(request, FrameType.STATUS, StatusMessage.encode(outcome));
    }

    /** Sends a request to which no answer is awaited. */
    public void tell(FrameType type, ByteString body, long deadlineNanos) {
        Frame frame = new Frame(type, NO_ANSWER, false, body);
        if (!send(frame, deadlineNanos).isOk()) {
            meters.lostAnswer();
        }
    }

    private Outcome<Done> send(Frame frame, long deadlineNanos) {
        try {
            if (!writing.tryLock(
                    Math.max(0, deadlineNanos - clock.nanos()), TimeUnit.NANOSECONDS)) {
                return Outcome.failed(
                        LlmStatus.LLM_WAIT_PROC_TIMEOUT, "the peer takes no control messages");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Outcome.failed(LlmStatus.LLM_FAILED, "interrupted while sending to the peer");
        }
        try {
            Outcome.Failed<?> reason = closed.get();
            if (reason != null) {
                return reason.as();
            }
            writeDeadlineNanos = deadlineNanos;
            out.write(FrameLayout.encode(frame));
            out.flush();
            return Outcome.done();
        } catch (IOException e) {
            return end(Outcome.failed(LlmStatus.LLM_FAILED, "connection lost: " + text(e))).as();
        } finally {
            writeDeadlineNanos = NEVER;
            writing.unlock();
        }
    }

    /** Ends the connection; everybody who waits gets the first reason that was given. */
    public void close(Outcome.Failed<?> reason) {
        Outcome.Failed<?> first = end(reason);
        LOG.log(Level.DEBUG, () -> "control-closed reason=" + first.detail());
    }

    /** Ends the connection; the reason that was given first. */
    private Outcome.Failed<?> end(Outcome.Failed<?> reason) {
        if (!closed.compareAndSet(null, reason)) {
            Outcome.Failed<?> first = closed.get();
            return first == null ? reason : first;
        }
        try {
            socket.close();
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "socket-close failed reason=" + text(e));
        }
        waiting.values().forEach(request -> request.fail(reason));
        return reason;
    }

    public boolean isClosed() {
        return closed.get() != null;
    }

    /** When the last frame came in, on the clock's monotonic scale. */
    long lastReceivedNanos() {
        return lastReceivedNanos;
    }

    /** Counts the silence from now on: for a process that was stopped itself. */
    void forgiveSilence(long nowNanos) {
        lastReceivedNanos = nowNanos;
    }

    /** Ends a write that the peer did not take in time, and with it the connection. */
    void closeIfOverdue(long nowNanos) {
        long deadline = writeDeadlineNanos;
        if (deadline != NEVER && nowNanos - deadline > 0) {
            close(
                    Outcome.failed(
                            LlmStatus.LLM_WAIT_PROC_TIMEOUT, "the peer takes no control messages"));
        }
    }

    static String text(Exception e) {
        String message = e.getMessage();
        return message == null || message.isEmpty()
                ? e.getClass().getSimpleName()
                : e.getClass().getSimpleName() + ": " + message;
    }
}
