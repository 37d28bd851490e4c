package io.cassia.transfer.transport.tcp;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.base.AcceptLoop;
import io.cassia.base.Clock;
import io.cassia.transfer.memory.BufferTable;
import io.cassia.transfer.memory.Registration;
import io.cassia.transfer.net.PlainWire;
import io.cassia.transfer.net.PortBinder;
import io.cassia.transfer.net.SocketOptions;
import io.cassia.transfer.net.Watchdog;
import io.cassia.transfer.net.Wire;
import io.cassia.transfer.net.tls.Gate;
import io.cassia.transfer.transport.TransferMetrics;
import io.cassia.transfer.transport.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Serves this engine's registered memory on the data port (spec 7), and on a socket of this host.
 * Guarded.
 *
 * <p>Each connection has a thread: a platform thread for the first few hundred, which answers twice
 * as fast, a virtual one beyond, which costs less. Idle connections stay open for ever: a pooled
 * C++ client does not notice a closed one before its next request fails.
 */
public final class DataServer implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(DataServer.class.getName());
    private static final int PLATFORM_THREADS = 256;
    private static final int MAX_CONNECTIONS = 16_384;
    private static final Duration ACCEPT_PAUSE = Duration.ofMillis(100);
    private static final Duration REFUSAL = Duration.ofSeconds(5);
    private static final int DROP_BYTES = 64 << 10;
    private static final int MAX_DROPS = 64;

    private final ServerContext context;
    private final Set<SocketChannel> visitors = ConcurrentHashMap.newKeySet();
    private final Set<ServerConnection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicInteger platformThreads = new AtomicInteger();
    private final ThreadFactory platform =
            Thread.ofPlatform().daemon().name("cassia-data-", 0).factory();
    private final ThreadFactory virtual = Thread.ofVirtual().name("cassia-data-v-", 0).factory();
    private final List<Door> doors = new CopyOnWriteArrayList<>();

    /** A listener and who waits at it. Immutable. */
    private record Door(ServerSocketChannel listener, Thread acceptor) {}

    private DataServer(ServerContext context) {
        this.context = context;
    }

    /**
     * Serves a bound listener, which it owns from now on.
     *
     * @param gate where each connection begins
     * @param stall how long a peer may keep a request waiting without moving a byte
     */
    public static DataServer start(
            ServerSocketChannel listener,
            BufferTable buffers,
            Gate gate,
            Duration stall,
            Watchdog watchdog,
            Clock clock,
            TransferMetrics metrics) {
        DataServer server =
                new DataServer(
                        new ServerContext(
                                buffers, metrics, gate, watchdog, clock, stall.toNanos()));
        server.open(
                listener, Transport.TCP, "cassia-data-accept-" + listener.socket().getLocalPort());
        return server;
    }

    /** Serves a bound Unix-domain listener as well, which it owns from now on. */
    public void serveUnix(ServerSocketChannel listener) {
        open(listener, Transport.UDS, "cassia-data-accept-unix");
    }

    private void open(ServerSocketChannel listener, Transport transport, String name) {
        Thread acceptor =
                Thread.ofPlatform()
                        .daemon()
                        .name(name)
                        .unstarted(
                                () ->
                                        AcceptLoop.run(
                                                listener,
                                                channel -> welcome(channel, listener, transport),
                                                this::acceptFailed));
        doors.add(new Door(listener, acceptor));
        acceptor.start();
    }

    private void acceptFailed(Throwable e) {
        context.metrics().serverClosed("accept-failed");
        LOG.log(System.Logger.Level.WARNING, "data-accept-failed", e);
        LockSupport.parkNanos(ACCEPT_PAUSE.toNanos());
    }

    private void welcome(SocketChannel channel, ServerSocketChannel listener, Transport transport)
            throws IOException {
        try {
            if (transport == Transport.TCP) {
                SocketOptions.forLongLife(channel);
                SocketOptions.forThisHost(channel);
            }
        } catch (IOException e) {
            PlainWire.reset(channel);
            throw e;
        }
        serve(channel, listener, transport);
    }

    private void serve(SocketChannel channel, ServerSocketChannel listener, Transport transport)
            throws IOException {
        if (connections.size() + visitors.size() >= MAX_CONNECTIONS) {
            context.metrics().serverClosed("too-many");
            channel.close();
            return;
        }
        visitors.add(channel);
        boolean asPlatform = platformThreads.incrementAndGet() <= PLATFORM_THREADS;
        if (!asPlatform) {
            platformThreads.decrementAndGet();
        }
        ThreadFactory factory = asPlatform ? platform : virtual;
        try {
            factory.newThread(
                            () -> {
                                try {
                                    run(channel, listener, transport);
                                } finally {
                                    ended(channel, asPlatform);
                                }
                            })
                    .start();
        } catch (OutOfMemoryError e) {
            // No thread to be had: this peer is turned away, the others are served on.
            ended(channel, asPlatform);
            PlainWire.reset(channel);
            throw new IOException("no thread for a connection", e);
        }
    }

    private void run(SocketChannel channel, ServerSocketChannel listener, Transport transport) {
        switch (context.gate().admit(channel, "data")) {
            case Gate.Visitor.Admitted(Wire wire) -> {
                ServerConnection connection =
                        new ServerConnection(wire, context, context.metrics().server(transport));
                run(connection, channel, listener);
            }
            case Gate.Visitor.Unwelcome(ByteBuffer received, Gate.Refusal why) ->
                    refuse(channel, received, why);
            case Gate.Visitor.Refused() -> context.metrics().serverClosed("refused");
        }
    }

    private void ended(SocketChannel channel, boolean asPlatform) {
        visitors.remove(channel);
        if (asPlatform) {
            platformThreads.decrementAndGet();
        }
    }

    private void run(
            ServerConnection connection, SocketChannel channel, ServerSocketChannel listener) {
        connections.add(connection);
        visitors.remove(channel);
        context.metrics().serverConnections().incrementAndGet();
        try {
            if (!listener.isOpen()) {
                // The server was closed meanwhile and may not have seen this one.
                connection.abort();
            }
            connection.run();
        } finally {
            connections.remove(connection);
            context.metrics().serverConnections().decrementAndGet();
        }
    }

    /** Answers a peer's first request, whatever it is, with the reason. */
    private void refuse(SocketChannel channel, ByteBuffer received, Gate.Refusal why) {
        context.metrics().serverClosed(why.label());
        PlainWire wire = new PlainWire(channel);
        ByteBuffer header = ByteBuffer.allocate(RequestLayout.LENGTH_BYTES).put(received);
        try (channel;
                Watchdog.Watch watch = context.watchdog().watch(wire::reset)) {
            watch.arm(context.clock().nanos() + REFUSAL.toNanos());
            while (header.hasRemaining()) {
                if (channel.read(header) < 0) {
                    return;
                }
            }
            if (!RequestLayout.isAcknowledged(header.get(RequestLayout.OPCODE_OFFSET))) {
                // Version 1 knows no refusal but this one.
                wire.reset();
                return;
            }
            wire.write(StatusLayout.refusal(why));
            channel.shutdownOutput();
            // Closing with bytes unread would reset the connection and take the status with it.
            ByteBuffer dropped = ByteBuffer.allocate(DROP_BYTES);
            int read = 0;
            for (int i = 0; i < MAX_DROPS && read >= 0; i++) {
                read = channel.read(dropped.clear());
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "plain-peer-gone", e);
        }
    }

    /** Ends the connections whose requests use a range; how many were not being ended already. */
    @CanIgnoreReturnValue
    public int abort(Registration range) {
        int aborted = 0;
        for (ServerConnection connection : connections) {
            if (connection.holds(range) && connection.abort()) {
                context.metrics().serverClosed("unregistered");
                aborted++;
            }
        }
        return aborted;
    }

    /** Accepts no more and ends all connections. */
    @Override
    public void close() {
        doors.forEach(door -> PortBinder.close(door.listener(), door.acceptor()));
        visitors.forEach(PlainWire::reset);
        connections.forEach(ServerConnection::abort);
    }
}
