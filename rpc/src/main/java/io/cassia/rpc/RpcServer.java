package io.cassia.rpc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.base.AcceptLoop;
import io.cassia.base.Clock;
import io.cassia.base.Closing;
import io.cassia.rpc.ServerMetrics.Rejected;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import jdk.net.ExtendedSocketOptions;

/**
 * Answers coro_rpc calls (spec mooncake-store 11.2). Guarded: connections are kept in concurrent
 * collections; each is served by its own thread.
 *
 * <p>The first connections get platform threads, later ones virtual threads. A thread reads all
 * that has arrived, handles it as one batch and answers with one write; a peer that pipelines is
 * served several times faster for it. What a malformed request leads to is as recorded of upstream:
 * a bad frame header ends the connection without an answer, a bad body is answered with error 4, an
 * unknown function with error 11. Each end and each refusal is counted with its reason in {@code
 * cassia_rpc_server_closed_total} and {@code cassia_rpc_server_rejected_total}.
 */
public final class RpcServer implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(RpcServer.class.getName());

    private static final int BACKLOG = 1024;
    private static final int PLATFORM_BUFFER_BYTES = 64 << 10;
    private static final int VIRTUAL_BUFFER_BYTES = 8 << 10;
    private static final long MAX_WATCH_MILLIS = 1000;
    private static final Duration CLOSE_GRACE = Duration.ofSeconds(5);
    private static final Duration ACCEPT_PAUSE = Duration.ofMillis(100);

    private final ServerSocketChannel listener;
    private final InetSocketAddress address;
    private final DispatchTable methods;
    private final ServerLimits limits;
    private final InputMemory memory;
    private final BatchGate gate;
    private final ServerMetrics metrics;
    private final Clock clock;
    private final Map<ServerConnection, Thread> connections = new ConcurrentHashMap<>();
    private final AtomicInteger platformThreads = new AtomicInteger();
    private final Closing closing = new Closing();
    private final Gauge gauge;
    private final Thread acceptor;
    private final Thread watch;

    private RpcServer(
            ServerSocketChannel listener,
            InetSocketAddress address,
            DispatchTable methods,
            Builder builder) {
        this.listener = listener;
        this.address = address;
        this.limits = builder.limits;
        this.memory = new InputMemory(limits.inputBytes());
        this.gate = builder.gate;
        this.metrics = builder.metrics;
        this.clock = builder.clock;
        this.methods = methods;
        this.gauge = metrics.connections(address.getPort(), connections::size);
        String name = "cassia-rpc-" + address.getPort();
        this.acceptor =
                Thread.ofPlatform()
                        .daemon()
                        .name(name + "-accept")
                        .unstarted(() -> AcceptLoop.run(listener, this::admit, this::acceptFailed));
        this.watch = Thread.ofPlatform().daemon().name(name + "-watch").unstarted(this::watch);
    }

    /** A server that counts into this registry. */
    public static Builder builder(MeterRegistry metrics) {
        return new Builder(metrics);
    }

    /** The address that it listens on, with the real port. */
    public InetSocketAddress address() {
        return address;
    }

    public int port() {
        return address.getPort();
    }

    /** Connections now. */
    public int connections() {
        return connections.size();
    }

    /** For tests. */
    InputMemory inputMemory() {
        return memory;
    }

    private void acceptFailed(Throwable e) {
        metrics.rejected(Rejected.ACCEPT_FAILED);
        LOG.log(System.Logger.Level.WARNING, "rpc accept failed address={0} cause={1}", address, e);
        closing.pause(ACCEPT_PAUSE);
    }

    private void admit(SocketChannel channel) throws IOException {
        if (connections.size() >= limits.maxConnections()) {
            channel.close();
            metrics.rejected(Rejected.TOO_MANY_CONNECTIONS);
            return;
        }
        try {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            keepAlive(channel);
            boolean platform = platformThreads.get() < limits.platformThreads();
            ServerConnection connection =
                    new ServerConnection(
                            channel,
                            methods,
                            limits,
                            gate,
                            metrics,
                            clock,
                            platform ? PLATFORM_BUFFER_BYTES : VIRTUAL_BUFFER_BYTES,
                            memory);
            start(connection, platform);
        } catch (IOException e) {
            // The peer was gone before it was served.
            metrics.closed(ServerMetrics.Closed.IO_ERROR);
            channel.close();
        }
    }

    /** So that a connection whose peer has vanished without a word ends within two minutes. */
    private static void keepAlive(SocketChannel channel) throws IOException {
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        if (channel.supportedOptions().contains(ExtendedSocketOptions.TCP_KEEPIDLE)) {
            channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 60);
            channel.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 10);
            channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, 6);
        }
    }

    private void start(ServerConnection connection, boolean platform) {
        Runnable serve =
                () -> {
                    try {
                        connection.run();
                    } finally {
                        forget(connection, platform);
                    }
                };
        String name = "cassia-rpc-" + port() + "-connection";
        Thread thread =
                platform
                        ? Thread.ofPlatform().daemon().name(name).unstarted(serve)
                        : Thread.ofVirtual().name(name).unstarted(serve);
        if (platform) {
            platformThreads.incrementAndGet();
        }
        connections.put(connection, thread);
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            // The system has no more threads, which is no reason to stop accepting.
            metrics.rejected(Rejected.ACCEPT_FAILED);
            LOG.log(System.Logger.Level.WARNING, "rpc thread failed address=" + address, e);
            connection.abort();
            forget(connection, platform);
            return;
        }
        if (closing.hasBegun()) {
            connection.finish();
        }
    }

    private void forget(ServerConnection connection, boolean platform) {
        Thread _ = connections.remove(connection);
        if (platform) {
            platformThreads.decrementAndGet();
        }
    }

    /** Ends connections whose peers do not read, or do not write. */
    private void watch() {
        long shortest = limits.writeStall().toMillis();
        if (!limits.idle().isZero()) {
            shortest = Math.min(shortest, limits.idle().toMillis());
        }
        long periodMillis = Math.clamp(shortest / 4, 1, MAX_WATCH_MILLIS);
        while (!closing.pause(Duration.ofMillis(periodMillis))) {
            long now = clock.nanos();
            for (ServerConnection connection : connections.keySet()) {
                connection.checkStall(now);
            }
        }
    }

    /**
     * Stops accepting, lets each connection finish the batch that it is working on, closes all and
     * waits for their threads. A handler that does not return within 5 seconds is left behind and
     * its connection closed under it.
     */
    @Override
    public void close() {
        closing.begin();
        closeListener();
        connections.keySet().forEach(ServerConnection::finish);
        long deadline = clock.nanos() + CLOSE_GRACE.toNanos();
        Map<ServerConnection, Thread> open = Map.copyOf(connections);
        open.forEach(
                (connection, thread) -> {
                    if (!join(thread, deadline - clock.nanos())) {
                        LOG.log(
                                System.Logger.Level.WARNING,
                                "rpc connection did not finish in time address={0}",
                                address);
                    }
                    connection.abort();
                });
        boolean _ = join(acceptor, deadline - clock.nanos());
        boolean _ = join(watch, deadline - clock.nanos());
        metrics.forget(gauge);
    }

    private void closeListener() {
        try {
            listener.close();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "rpc listener close failed cause={0}", e);
        }
    }

    private static boolean join(Thread thread, long nanos) {
        // A connection being admitted has a thread that is about to start and will find the end.
        if (thread == Thread.currentThread() || thread.getState() == Thread.State.NEW) {
            return true;
        }
        try {
            return thread.join(Duration.ofNanos(Math.max(1, nanos)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** What a server is made of. Confined to the thread that assembles it. */
    public static final class Builder {
        private final ServerMetrics metrics;
        private final List<Registration<?, ?>> registrations = new ArrayList<>();
        private String host = "127.0.0.1";
        private int port;
        private ServerLimits limits = ServerLimits.DEFAULT;
        private BatchGate gate = BatchGate.OPEN;
        private Clock clock = Clock.system();

        private Builder(MeterRegistry metrics) {
            this.metrics = new ServerMetrics(metrics);
        }

        /** Where to listen; port 0 takes a free one. The default is 127.0.0.1:0. */
        @CanIgnoreReturnValue
        public Builder bind(String host, int port) {
            this.host = host;
            this.port = port;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder limits(ServerLimits limits) {
            this.limits = limits;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder gate(BatchGate gate) {
            this.gate = gate;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder clock(Clock clock) {
            this.clock = clock;
            return this;
        }

        /**
         * Answers a method. The handler is called on many connections' threads at once.
         *
         * @throws IllegalArgumentException at {@link #start} if two methods have one function id
         */
        @CanIgnoreReturnValue
        public <A, R> Builder register(
                RpcMethod<A, R> method, Function<? super A, ? extends R> handler) {
            registrations.add(Registration.plain(method, handler, metrics.requests(method)));
            return this;
        }

        /** Answers a method by a handler that looks at the attachment or the peer. */
        @CanIgnoreReturnValue
        public <A, R> Builder registerWithContext(
                RpcMethod<A, R> method, RpcHandler<? super A, ? extends R> handler) {
            registrations.add(Registration.contextual(method, handler, metrics.requests(method)));
            return this;
        }

        /**
         * Listens and serves.
         *
         * @return the running server, or {@link StoreCode#RPC_FAIL} saying which address cannot be
         *     listened on and why
         */
        public Outcome<RpcServer> start() {
            DispatchTable methods = new DispatchTable(registrations);
            InetSocketAddress wanted = new InetSocketAddress(host, port);
            if (wanted.isUnresolved()) {
                return cannotListen("the host name does not resolve");
            }
            ServerSocketChannel listener;
            try {
                listener = ServerSocketChannel.open();
            } catch (IOException e) {
                return cannotListen(String.valueOf(e.getMessage()));
            }
            try {
                listener.bind(wanted, BACKLOG);
                RpcServer server =
                        new RpcServer(
                                listener,
                                (InetSocketAddress) listener.getLocalAddress(),
                                methods,
                                this);
                server.acceptor.start();
                server.watch.start();
                return Outcome.ok(server);
            } catch (IOException e) {
                closeQuietly(listener);
                return cannotListen(String.valueOf(e.getMessage()));
            }
        }

        private Outcome<RpcServer> cannotListen(String cause) {
            return Outcome.failed(
                    StoreCode.RPC_FAIL,
                    "cannot listen on %s:%d: %s; choose another address or port"
                            .formatted(host, port, cause));
        }

        private static void closeQuietly(ServerSocketChannel listener) {
            try {
                listener.close();
            } catch (IOException e) {
                LOG.log(System.Logger.Level.WARNING, "rpc listener close failed cause={0}", e);
            }
        }
    }
}
