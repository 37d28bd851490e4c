package io.cassia.datadist.link;

import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A listening port and its accept loop. Guarded. Handshakes run on virtual threads, so many at a
 * time and no more; connections beyond that are closed and counted.
 */
final class Listener implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Listener.class.getName());
    private static final int BACKLOG = 128;
    private static final int MAX_HANDSHAKES = 64;
    private static final long PAUSE_NANOS = Duration.ofMillis(50).toNanos();

    private final ServerSocket server;
    private final IpInfo address;
    private final LinkMeters meters;
    private final Rest rest = new Rest();
    private final Semaphore handshakes = new Semaphore(MAX_HANDSHAKES);
    private volatile @Nullable Thread thread;

    private Listener(ServerSocket server, IpInfo address, LinkMeters meters) {
        this.server = server;
        this.address = address;
        this.meters = meters;
    }

    /** Opens the port; {@code LLM_FAILED} when it cannot be had. */
    static Outcome<Listener> open(IpInfo address, LinkMeters meters, Consumer<Socket> handshake) {
        ServerSocket server;
        try {
            server = new ServerSocket();
        } catch (IOException e) {
            return unopened(address, e);
        }
        try {
            server.setReuseAddress(true);
            server.bind(new InetSocketAddress(address.host(), address.port()), BACKLOG);
        } catch (IOException e) {
            Outcome<Listener> failed = unopened(address, e);
            closeQuietly(server);
            return failed;
        }
        IpInfo bound = new IpInfo(address.host(), server.getLocalPort());
        Listener listener = new Listener(server, bound, meters);
        listener.start(handshake);
        return Outcome.ok(listener);
    }

    private static Outcome<Listener> unopened(IpInfo address, IOException e) {
        return Outcome.failed(
                LlmStatus.LLM_FAILED,
                "cannot listen on %s: %s; is the port in use, the address local?"
                        .formatted(address, ControlChannel.text(e)));
    }

    private void start(Consumer<Socket> handshake) {
        thread =
                Thread.ofPlatform()
                        .daemon()
                        .name("datadist-accept-" + address.port())
                        .start(() -> accept(handshake));
    }

    /** Where it listens, with the real port. */
    IpInfo address() {
        return address;
    }

    private void accept(Consumer<Socket> handshake) {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                if (handshakes.tryAcquire()) {
                    Thread.startVirtualThread(() -> run(handshake, socket));
                } else {
                    meters.refusedHandshake();
                    SocketGuard.closeQuietly(socket);
                }
            } catch (IOException e) {
                if (!server.isClosed()) {
                    LOG.log(Level.WARNING, "accept failed on=" + address, e);
                    // Running out of descriptors would otherwise turn the loop into a busy one.
                    boolean _ = rest.pause(PAUSE_NANOS);
                }
            }
        }
    }

    private void run(Consumer<Socket> handshake, Socket socket) {
        try {
            handshake.accept(socket);
        } finally {
            handshakes.release();
        }
    }

    /** On return the port is free: the system holds it until the accepting thread has left. */
    @Override
    public void close() {
        closeQuietly(server);
        rest.end();
        Thread accepting = thread;
        if (accepting != null) {
            try {
                boolean _ = accepting.join(Duration.ofSeconds(1));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void closeQuietly(ServerSocket server) {
        try {
            server.close();
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "listener-close failed", e);
        }
    }
}
