package io.cassia.rpc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.rpc.ClientMetrics.Event;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Calls one coro_rpc server over one connection (spec mooncake-store 11.2). Guarded; made for many
 * callers at once.
 *
 * <p>A blocking caller reads the socket itself while nobody else does, so that a lone call costs a
 * write, a wait and a read on one thread; requests of concurrent callers leave in common writes.
 *
 * <p>The connection is made at the first call and made anew at the next call after it was lost. A
 * failed attempt is followed by a pause of 20 ms that doubles up to 2 s; calls in the pause fail at
 * once with the cause. Nothing is retried that may have reached the server.
 *
 * <p>Outcomes of the call itself: {@link StoreCode#RPC_TIMEOUT} after the call's time or when the
 * server says so, {@link StoreCode#RPC_FAIL} when there is no connection, it was lost, the server
 * refused the frame, or the caller was interrupted, {@link StoreCode#INVALID_PARAMS} for a request
 * longer than the limit. The detail says whether the request was sent and so may have taken effect.
 */
public final class RpcClient implements AutoCloseable {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);
    private static final int MAX_DOUBLINGS = 7;
    private static final int MAX_ATTEMPTS = 3;

    /** How the detail of a failure ends whose request never left. */
    private static final String NOT_SENT = "not sent";

    private final String host;
    private final int port;
    private final String peer;
    private final ClientSettings settings;
    private final ClientMetrics metrics;
    private final Clock clock;
    private final ReentrantLock connectLock = new ReentrantLock();

    private volatile @Nullable ClientConnection connection;
    private volatile Attachment extension = Attachment.NONE;
    private volatile boolean closed;

    @GuardedBy("connectLock")
    private int failedAttempts;

    @GuardedBy("connectLock")
    private long nextAttemptNanos;

    @GuardedBy("connectLock")
    private String lastFailure = "";

    private RpcClient(Builder builder) {
        this.host = builder.host;
        this.port = builder.port;
        this.peer = builder.host + ":" + builder.port;
        this.metrics = builder.metrics;
        this.clock = builder.clock;
        this.settings =
                new ClientSettings(
                        builder.connectTimeout,
                        builder.maxInFlight,
                        builder.maxBodyBytes,
                        clock,
                        metrics);
    }

    /** A client of this server that counts into this registry. */
    public static Builder builder(String host, int port, MeterRegistry metrics) {
        return new Builder(host, port, metrics);
    }

    /** {@code host:port} of the server. */
    public String peer() {
        return peer;
    }

    /** Connects now instead of at the first call. */
    public Outcome<Done> connect() {
        return connect(deadline(settings.connectTimeout())).map(_ -> Done.DONE);
    }

    /** The same within a time; RPC_TIMEOUT when the server does not answer until then. */
    public Outcome<Done> connect(Duration timeout) {
        return connect(deadline(timeout)).map(_ -> Done.DONE);
    }

    /** Asks for the details of failures; for servers that announced that they send them. */
    public void failureDetails(boolean wanted) {
        extension = wanted ? Attachment.WANT_DETAILS : Attachment.NONE;
    }

    /** Whether a failed call certainly changed nothing: its request never left this process. */
    public static boolean wasNotSent(Outcome.Failed<?> failed) {
        return (failed.code() == StoreCode.RPC_FAIL || failed.code() == StoreCode.RPC_TIMEOUT)
                && failed.detail().endsWith(NOT_SENT);
    }

    /** Calls and waits for the answer. */
    public <A, R> Outcome<R> call(RpcMethod<A, R> method, A arguments, Duration timeout) {
        return run(method, arguments, extension, timeout).outcome();
    }

    /** A call whose own failure and whose result's failure become one. */
    public <A, T> Outcome<T> callExpected(
            RpcMethod<A, Outcome<T>> method, A arguments, Duration timeout) {
        return flatten(call(method, arguments, timeout));
    }

    /** The inner outcome, or the outer failure. */
    public static <T> Outcome<T> flatten(Outcome<Outcome<T>> outcome) {
        return switch (outcome) {
            case Outcome.Ok<Outcome<T>>(Outcome<T> inner) -> inner;
            case Outcome.Failed<Outcome<T>> failed -> failed.as();
        };
    }

    /** Empty when the server does not know the method; other failures as always. */
    public <A, R> Outcome<Optional<R>> callIfRegistered(
            RpcMethod<A, R> method, A arguments, Duration timeout) {
        BlockingCall<R> call = run(method, arguments, extension, timeout);
        return call.known() ? call.outcome().map(Optional::of) : Outcome.ok(Optional.empty());
    }

    /** A call with attachments both ways. */
    public <A, R> Outcome<Reply<R>> exchange(
            RpcMethod<A, R> method, A arguments, Attachment attachment, Duration timeout) {
        Attachment all =
                extension.isEmpty()
                        ? attachment
                        : attachment.with(Attachment.DETAILS, ByteString.EMPTY);
        BlockingCall<R> call = run(method, arguments, all, timeout);
        return call.outcome().map(result -> new Reply<>(result, call.attachment()));
    }

    /**
     * Calls without waiting. Connects on the caller's thread if need be. The future's dependants
     * run on the connection's background thread: while they block, no other future of this client
     * is completed. Cancelling the future does not call the request back.
     */
    public <A, R> CompletableFuture<Outcome<R>> callAsync(
            RpcMethod<A, R> method, A arguments, Duration timeout) {
        AsyncCall<R> call = new AsyncCall<>(method, deadline(timeout));
        if (send(call, method, arguments, extension, false)) {
            call.connection().background().watch(call.deadlineNanos());
        }
        return call.future();
    }

    /**
     * Sends a request whose answer nobody needs together with the next one of this client, which it
     * stands before, or alone after a moment. It costs its caller no write, and nobody is woken up
     * for its answer.
     */
    public <A, R> void callSoon(RpcMethod<A, R> method, A arguments, Duration timeout) {
        SilentCall<R> call = new SilentCall<>(method, deadline(timeout));
        if (send(call, method, arguments, extension, true)) {
            call.connection().background().sendSoon(call.deadlineNanos());
        }
    }

    /** A pipeline of at most so many requests in flight, for the calling thread. */
    public <A, R> RpcPipeline<A, R> pipeline(RpcMethod<A, R> method, int depth, Duration timeout) {
        return new RpcPipeline<>(this, method, depth, timeout);
    }

    private <A, R> BlockingCall<R> run(
            RpcMethod<A, R> method, A arguments, Attachment attachment, Duration timeout) {
        BlockingCall<R> call = new BlockingCall<>(method, deadline(timeout));
        if (send(call, method, arguments, attachment, false)) {
            call.connection().awaitEnd(call, call.waiter());
        }
        return call;
    }

    long deadline(Duration timeout) {
        return Deadline.after(clock, timeout).atNanos();
    }

    /** Sends, or ends the call with the reason why it cannot be sent. */
    <A, R> boolean send(
            ClientCall<R> call,
            RpcMethod<A, R> method,
            A arguments,
            Attachment attachment,
            boolean hold) {
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            ClientConnection open = usable();
            if (open == null) {
                switch (connect(call.deadlineNanos())) {
                    case Outcome.Ok<ClientConnection>(ClientConnection made) -> open = made;
                    case Outcome.Failed<ClientConnection> failed -> {
                        call.end(failed.in(method.shortName()), Attachment.NONE, true);
                        return false;
                    }
                }
            }
            RequestQueue.Added added = sendTo(open, call, method, arguments, attachment, hold);
            if (added == RequestQueue.Added.QUEUED || added == RequestQueue.Added.MUST_WRITE) {
                return true;
            }
            if (added != RequestQueue.Added.CLOSED) {
                call.end(refusal(added, method), Attachment.NONE, true);
                return false;
            }
            // Not a byte was sent: the next connection may take the request.
        }
        String detail = method.shortName() + " to " + peer + ": connections are closed at once";
        call.end(Outcome.failed(StoreCode.RPC_FAIL, detail), Attachment.NONE, true);
        return false;
    }

    private <A, R> RequestQueue.Added sendTo(
            ClientConnection open,
            ClientCall<R> call,
            RpcMethod<A, R> method,
            A arguments,
            Attachment attachment,
            boolean hold) {
        RequestQueue.Added added = RequestQueue.Added.CLOSED;
        call.sendingTo(open);
        try {
            added = open.send(call, method, arguments, attachment, room(open, call), hold);
        } finally {
            // Also after an exception, which arguments that cannot be encoded cause.
            if (added != RequestQueue.Added.QUEUED && added != RequestQueue.Added.MUST_WRITE) {
                call.notSent();
            }
        }
        return added;
    }

    private RequestQueue.Room room(ClientConnection open, ClientCall<?> call) {
        if (open.background().isCurrentThread()) {
            // It makes the room itself.
            return RequestQueue.Room.NONE;
        }
        long nanos = call.deadlineNanos() - clock.nanos();
        return new RequestQueue.Room(call instanceof BlockingCall<?>, nanos);
    }

    private <R> Outcome<R> refusal(RequestQueue.Added added, RpcMethod<?, R> method) {
        String prefix = method.shortName() + " to " + peer + ": ";
        String suffix = "; the request was not sent";
        return switch (added) {
            case TOO_LARGE -> {
                metrics.count(Event.REQUEST_TOO_LARGE);
                yield Outcome.failed(
                        StoreCode.INVALID_PARAMS,
                        prefix
                                + "the request is longer than "
                                + settings.maxBodyBytes()
                                + " bytes; send less at a time"
                                + suffix);
            }
            case INTERRUPTED -> {
                metrics.count(Event.INTERRUPTED);
                yield Outcome.failed(
                        StoreCode.RPC_FAIL, prefix + "the caller was interrupted" + suffix);
            }
            case FULL, CLOSED, QUEUED, MUST_WRITE -> {
                metrics.count(Event.TOO_MANY_IN_FLIGHT);
                yield Outcome.failed(
                        StoreCode.RPC_FAIL,
                        prefix
                                + "too many calls in flight, the limit is "
                                + settings.maxInFlight()
                                + ", or too many bytes waiting to be sent"
                                + suffix);
            }
        };
    }

    /** The connection if it is good for a request. */
    private @Nullable ClientConnection usable() {
        ClientConnection open = connection;
        if (open == null || open.isLost()) {
            return null;
        }
        open.lookAfterPause();
        return open.isLost() ? null : open;
    }

    private Outcome<ClientConnection> connect(long deadlineNanos) {
        try {
            if (!connectLock.tryLock(deadlineNanos - clock.nanos(), TimeUnit.NANOSECONDS)) {
                return Outcome.failed(
                        StoreCode.RPC_TIMEOUT, "still connecting to " + peer + "; not sent");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Outcome.failed(
                    StoreCode.RPC_FAIL, "interrupted while connecting to " + peer + "; not sent");
        }
        try {
            ClientConnection open = usable();
            return open == null ? connectLocked(deadlineNanos) : Outcome.ok(open);
        } finally {
            connectLock.unlock();
        }
    }

    @GuardedBy("connectLock")
    private Outcome<ClientConnection> connectLocked(long deadlineNanos) {
        if (closed) {
            return Outcome.failed(
                    StoreCode.RPC_FAIL, "the client of " + peer + " is closed; not sent");
        }
        long now = clock.nanos();
        if (failedAttempts > 0 && nextAttemptNanos - now > 0) {
            long millis = TimeUnit.NANOSECONDS.toMillis(nextAttemptNanos - now) + 1;
            return Outcome.failed(
                    StoreCode.RPC_FAIL,
                    "%s; the next attempt is possible in %d ms; not sent"
                            .formatted(lastFailure, millis));
        }
        long timeout = Math.min(settings.connectTimeout().toNanos(), deadlineNanos - now);
        try {
            InetSocketAddress address = new InetSocketAddress(host, port);
            if (address.isUnresolved()) {
                return connectFailed("the host name does not resolve");
            }
            ClientConnection made = ClientConnection.open(address, peer, timeout, settings);
            metrics.count(Event.CONNECTED);
            failedAttempts = 0;
            connection = made;
            return Outcome.ok(made);
        } catch (SocketTimeoutException e) {
            // A call with little time left says nothing about the server, whom others may reach.
            return timeout < settings.connectTimeout().toNanos()
                    ? Outcome.failed(
                            StoreCode.RPC_TIMEOUT,
                            "no connection to " + peer + " within the call's time; not sent")
                    : connectFailed("no answer within " + settings.connectTimeout());
        } catch (ClosedByInterruptException e) {
            return Outcome.failed(
                    StoreCode.RPC_FAIL, "interrupted while connecting to " + peer + "; not sent");
        } catch (IOException e) {
            return connectFailed(String.valueOf(e.getMessage()));
        }
    }

    @GuardedBy("connectLock")
    private Outcome<ClientConnection> connectFailed(String cause) {
        metrics.count(Event.CONNECT_FAILED);
        int doublings = Math.min(failedAttempts, MAX_DOUBLINGS);
        failedAttempts++;
        long pause = Math.min(FIRST_PAUSE.toNanos() << doublings, LONGEST_PAUSE.toNanos());
        nextAttemptNanos = clock.nanos() + pause;
        lastFailure = "cannot connect to " + peer + ": " + cause;
        return Outcome.failed(StoreCode.RPC_FAIL, lastFailure + "; not sent");
    }

    /** Ends all calls in flight; later calls fail. */
    @Override
    public void close() {
        connectLock.lock();
        try {
            closed = true;
            ClientConnection open = connection;
            if (open != null) {
                open.lose(Event.CLOSED, "the client was closed");
            }
        } finally {
            connectLock.unlock();
        }
    }

    /** What a client is made of. Confined to the thread that assembles it. */
    public static final class Builder {
        private final String host;
        private final int port;
        private final ClientMetrics metrics;
        private Duration connectTimeout = Duration.ofSeconds(30);
        private int maxInFlight = 1024;
        private int maxBodyBytes = 64 << 20;
        private Clock clock = Clock.system();

        private Builder(String host, int port, MeterRegistry metrics) {
            this.host = host;
            this.port = port;
            this.metrics = new ClientMetrics(metrics);
        }

        /** How long an attempt to connect may take. */
        @CanIgnoreReturnValue
        public Builder connectTimeout(Duration timeout) {
            this.connectTimeout = timeout;
            return this;
        }

        /**
         * Calls without an answer at a time. A blocking call beyond waits for its turn, another
         * fails.
         */
        @CanIgnoreReturnValue
        public Builder maxInFlight(int calls) {
            this.maxInFlight = calls;
            return this;
        }

        /** Longest body, and longest attachment, of a request and of a response. */
        @CanIgnoreReturnValue
        public Builder maxBodyBytes(int bytes) {
            this.maxBodyBytes = bytes;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder clock(Clock clock) {
            this.clock = clock;
            return this;
        }

        /** A client that connects at its first call. */
        public RpcClient build() {
            return new RpcClient(this);
        }
    }
}
