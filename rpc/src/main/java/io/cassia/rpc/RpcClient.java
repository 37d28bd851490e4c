package io.cassia.rpc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Calls one coro_rpc server. Shape only; the body follows. */
@SuppressWarnings("DoNotCallSuggester") // Until the body is written.
public final class RpcClient implements AutoCloseable {
    private RpcClient() {}

    public static Builder builder(String host, int port, MeterRegistry metrics) {
        return new Builder();
    }

    /** Connects now instead of at the first call. */
    public Outcome<Done> connect() {
        throw new UnsupportedOperationException();
    }

    public <A, R> Outcome<R> call(RpcMethod<A, R> method, A arguments, Duration timeout) {
        throw new UnsupportedOperationException();
    }

    /** A call whose own failure and whose result's failure become one. */
    public <A, T> Outcome<T> callExpected(
            RpcMethod<A, Outcome<T>> method, A arguments, Duration timeout) {
        throw new UnsupportedOperationException();
    }

    /** Empty when the server does not know the method. */
    public <A, R> Outcome<Optional<R>> callIfRegistered(
            RpcMethod<A, R> method, A arguments, Duration timeout) {
        throw new UnsupportedOperationException();
    }

    /** A call with sections both ways. */
    public <A, R> Outcome<Reply<R>> exchange(
            RpcMethod<A, R> method, A arguments, Attachment attachment, Duration timeout) {
        throw new UnsupportedOperationException();
    }

    public <A, R> CompletableFuture<Outcome<R>> callAsync(
            RpcMethod<A, R> method, A arguments, Duration timeout) {
        throw new UnsupportedOperationException();
    }

    /** Asks servers for the details of failures; for servers that announced that they know how. */
    public void failureDetails(boolean wanted) {}

    @Override
    public void close() {}

    public static final class Builder {
        @CanIgnoreReturnValue
        public Builder connectTimeout(Duration timeout) {
            return this;
        }

        @CanIgnoreReturnValue
        public Builder maxInFlight(int calls) {
            return this;
        }

        @CanIgnoreReturnValue
        public Builder maxBodyBytes(int bytes) {
            return this;
        }

        @CanIgnoreReturnValue
        public Builder clock(Clock clock) {
            return this;
        }

        public RpcClient build() {
            throw new UnsupportedOperationException();
        }
    }
}
