package io.cassia.rpc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.base.Clock;
import io.cassia.base.Spin;
import io.cassia.rpc.ClientMetrics.Event;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection of a client until it is lost. Guarded: calls by {@link CallTable}, output by
 * {@link RequestQueue}, input by {@link ReadTurn}: only the thread whose turn it is touches the
 * input and the selector.
 */
final class ClientConnection {
    private static final System.Logger LOG = System.getLogger(ClientConnection.class.getName());

    private static final int INPUT_BYTES = 16 << 10;
    private static final int STEADY_INPUT_BYTES = 256 << 10;
    private static final long DECODE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final long STALE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final String peer;
    private final ClientMetrics metrics;
    private final Clock clock;
    private final InputStream arrivals;
    private final Spin spin;
    private final SocketChannel channel;
    private final Selector selector;
    private final SelectionKey key;
    private final CallTable calls;
    private final RequestQueue requests;
    private final ReplyReader replies;
    private final InputBuffer input =
            new InputBuffer(INPUT_BYTES, STEADY_INPUT_BYTES, InputMemory.unlimited());
    private final ReadTurn turn = new ReadTurn();
    private final BackgroundReader background;
    private final AtomicReference<@Nullable String> lost = new AtomicReference<>();
    private final Consumer<SelectionKey> onReady = this::noteReady;

    // Of the thread whose turn it is.
    private boolean readable;
    private boolean writable;

    /** The socket took less than there is: the reader must go on writing once it can. */
    private volatile boolean stuck;

    private volatile long lastReplyNanos;

    private ClientConnection(
            SocketChannel channel, Selector selector, String peer, ClientSettings settings)
            throws IOException {
        this.peer = peer;
        this.metrics = settings.metrics();
        this.clock = settings.clock();
        this.channel = channel;
        this.selector = selector;
        this.key = channel.register(selector, SelectionKey.OP_READ);
        this.calls = new CallTable(settings.maxInFlight());
        this.requests = new RequestQueue(channel, calls, settings.maxBodyBytes());
        this.replies = new ReplyReader(peer, calls, settings.maxBodyBytes(), metrics);
        this.background = new BackgroundReader(this, "cassia-rpc-client-" + peer);
        this.lastReplyNanos = clock.nanos();
        this.arrivals = channel.socket().getInputStream();
        this.spin = new Spin(clock);
    }

    /** Connects within the time. */
    static ClientConnection open(
            InetSocketAddress address, String peer, long timeoutNanos, ClientSettings settings)
            throws IOException {
        SocketChannel channel = SocketChannel.open();
        Selector selector = null;
        try {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            long millis = Math.clamp(TimeUnit.NANOSECONDS.toMillis(timeoutNanos), 1, 1 << 30);
            channel.socket().connect(address, (int) millis);
            channel.configureBlocking(false);
            selector = Selector.open();
            return new ClientConnection(channel, selector, peer, settings);
        } catch (IOException | RuntimeException e) {
            channel.close();
            if (selector != null) {
                selector.close();
            }
            throw e;
        }
    }

    boolean isLost() {
        return lost.get() != null;
    }

    CallTable calls() {
        return calls;
    }

    BackgroundReader background() {
        return background;
    }

    Clock clock() {
        return clock;
    }

    boolean isStuck() {
        return stuck;
    }

    /**
     * Queues a request and, unless it is held back, sends it.
     *
     * @param room what to wait for if there are too many calls or bytes already
     * @param hold leave the writing to {@link #flush} or to another caller's request
     */
    <A> RequestQueue.Added send(
            ClientCall<?> call,
            RpcMethod<A, ?> method,
            A arguments,
            Attachment attachment,
            RequestQueue.Room room,
            boolean hold) {
        RequestQueue.Added added = requests.add(call, method, arguments, attachment, room, hold);
        if (added == RequestQueue.Added.MUST_WRITE) {
            write();
        }
        return added;
    }

    /** Sends what was held back. */
    void flush() {
        if (requests.flush()) {
            write();
        }
    }

    /** Handles what has come while nobody waits for an answer. */
    void readIdle() {
        if (calls.size() > 0 && turn.tryTake()) {
            try {
                readAvailable();
            } catch (IOException e) {
                lose(Event.LOST_BY_IO_ERROR, String.valueOf(e.getMessage()));
            } finally {
                turn.pass();
            }
        }
    }

    private void write() {
        try {
            if (!requests.write()) {
                stuck = true;
                key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
                background.wake();
                selector.wakeup();
            }
        } catch (IOException e) {
            lose(Event.LOST_BY_IO_ERROR, String.valueOf(e.getMessage()));
        } catch (CancelledKeyException e) {
            lose(Event.LOST_BY_IO_ERROR, "the connection was closed");
        }
    }

    void wakeReader() {
        selector.wakeup();
    }

    /** Waits until the call has ended, by its reply or because its time is over. */
    void awaitEnd(ClientCall<?> call, Waiter waiter) {
        await(waiter, call.deadlineNanos());
        if (!waiter.isDone()) {
            boolean interrupted = Thread.currentThread().isInterrupted();
            expire(call, interrupted ? Event.INTERRUPTED : Event.TIMED_OUT);
        }
        while (!waiter.isDone()) {
            // Another thread has the reply and is decoding it.
            LockSupport.parkNanos(this, DECODE_NANOS);
        }
    }

    /**
     * Reads, or waits while another thread reads, until the waiter is done, the deadline has passed
     * or the thread is interrupted.
     */
    private void await(Waiter waiter, long deadlineNanos) {
        boolean waited = false;
        while (!waiter.isDone() && !Thread.currentThread().isInterrupted()) {
            long left = deadlineNanos - clock.nanos();
            if (left <= 0) {
                break;
            }
            if (turn.takeOrQueue(waiter)) {
                waited = false;
                readUntilDone(waiter, deadlineNanos);
            } else {
                waited = true;
                // Taking the turn's lock may have swallowed the wake-up of an answer.
                if (!waiter.isDone()) {
                    LockSupport.parkNanos(this, left);
                }
            }
        }
        if (waited) {
            turn.leave(waiter);
        }
    }

    private void readUntilDone(Waiter waiter, long deadlineNanos) {
        try {
            while (!waiter.isDone() && !Thread.currentThread().isInterrupted()) {
                long left = deadlineNanos - clock.nanos();
                if (left <= 0) {
                    return;
                }
                read(left);
            }
        } finally {
            turn.pass();
        }
    }

    /** One round of reading for the background reader; false when it is another's turn. */
    boolean readInTurn(Waiter waiter, long nanos) {
        if (!turn.takeOrQueue(waiter)) {
            return false;
        }
        try {
            read(nanos);
        } finally {
            turn.pass();
        }
        return true;
    }

    /** The background reader has nothing to read for now. */
    void leaveTurn(Waiter waiter) {
        turn.leave(waiter);
    }

    /** Waits for the socket and handles what is there. Only by the thread whose turn it is. */
    private void read(long timeoutNanos) {
        try {
            if (!stuck && spin.sees(arrivals)) {
                readAvailable();
                return;
            }
            readable = false;
            writable = false;
            long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(timeoutNanos));
            int _ = selector.select(onReady, millis);
            if (writable && stuck) {
                // The interest goes first: with the last byte another thread may become stuck.
                stuck = false;
                key.interestOps(SelectionKey.OP_READ);
                write();
            }
            if (readable) {
                readAvailable();
            }
        } catch (IOException e) {
            lose(Event.LOST_BY_IO_ERROR, String.valueOf(e.getMessage()));
        } catch (ClosedSelectorException | CancelledKeyException e) {
            lose(Event.LOST_BY_IO_ERROR, "the connection was closed");
        }
    }

    private void noteReady(SelectionKey ready) {
        readable = ready.isReadable();
        writable = ready.isWritable();
    }

    private void readAvailable() throws IOException {
        int count = input.read(channel);
        if (count < 0) {
            lose(Event.LOST_BY_PEER, "the peer closed the connection");
            return;
        }
        lastReplyNanos = clock.nanos();
        String malformed = replies.handle(input);
        if (malformed != null) {
            lose(Event.LOST_BY_MALFORMED_RESPONSE, malformed);
        }
        requests.roomMade();
    }

    /** Takes the call out because its time is over; false when its reply was faster. */
    @CanIgnoreReturnValue
    boolean expire(ClientCall<?> call, Event reason) {
        if (!calls.take(call)) {
            return false;
        }
        metrics.count(reason);
        requests.roomMade();
        StoreCode code = reason == Event.TIMED_OUT ? StoreCode.RPC_TIMEOUT : StoreCode.RPC_FAIL;
        String what =
                reason == Event.TIMED_OUT ? "no answer in time" : "the caller was interrupted";
        fail(call, code, what, "the request waits to be sent and may still take effect");
        return true;
    }

    private <R> void fail(ClientCall<R> call, StoreCode code, String cause, String unsent) {
        String effect =
                requests.isSent(call) ? "the request was sent and may have taken effect" : unsent;
        String detail =
                "%s to %s: %s; %s".formatted(call.method().shortName(), peer, cause, effect);
        call.end(Outcome.failed(code, detail), Attachment.NONE, true);
    }

    /** Ends the connection and all its calls. The first cause counts. */
    void lose(Event event, String cause) {
        if (!lost.compareAndSet(null, cause)) {
            return;
        }
        metrics.count(event);
        requests.close();
        closeSocket();
        calls.forEach(
                call -> {
                    if (calls.take(call)) {
                        String what = "connection lost: " + cause;
                        fail(call, StoreCode.RPC_FAIL, what, "the request was not sent");
                    }
                });
        background.close();
    }

    private void closeSocket() {
        // Both are closed whatever the first one says; the calls learn the cause of the loss.
        try (selector) {
            channel.close();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "rpc close failed peer=" + peer, e);
        }
    }

    /**
     * Notices that the peer has gone while nobody was reading. Before a request on a connection
     * that was idle for long: a request to a peer that has gone would count as perhaps executed.
     */
    void lookAfterPause() {
        // Also with calls in flight: nobody reads for those whose answers nobody needs.
        if (clock.nanos() - lastReplyNanos > STALE_NANOS && turn.tryTake()) {
            try {
                readAvailable();
            } catch (IOException e) {
                lose(Event.LOST_BY_IO_ERROR, String.valueOf(e.getMessage()));
            } finally {
                turn.pass();
            }
        }
    }
}
