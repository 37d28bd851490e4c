package io.cassia.rpc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.InetSocketAddress;
import java.util.function.Function;

/** Answers coro_rpc calls. Shape only; the body follows. */
@SuppressWarnings("DoNotCallSuggester") // Until the body is written.
public final class RpcServer implements AutoCloseable {
    private RpcServer() {}

    public static Builder builder(MeterRegistry metrics) {
        return new Builder();
    }

    public InetSocketAddress address() {
        throw new UnsupportedOperationException();
    }

    public int port() {
        return address().getPort();
    }

    @Override
    public void close() {}

    public static final class Builder {
        @CanIgnoreReturnValue
        public Builder bind(String host, int port) {
            return this;
        }

        @CanIgnoreReturnValue
        public Builder limits(ServerLimits limits) {
            return this;
        }

        @CanIgnoreReturnValue
        public Builder gate(BatchGate gate) {
            return this;
        }

        @CanIgnoreReturnValue
        public <A, R> Builder register(
                RpcMethod<A, R> method, Function<? super A, ? extends R> handler) {
            return this;
        }

        @CanIgnoreReturnValue
        public <A, R> Builder registerWithContext(
                RpcMethod<A, R> method, RpcHandler<? super A, ? extends R> handler) {
            return this;
        }

        public Outcome<RpcServer> start() {
            throw new UnsupportedOperationException();
        }
    }
}
