package io.cassia.transfer.net;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Opens and closes listeners, on one port or on any free port of a range. Immutable. */
public final class PortBinder {
    private static final System.Logger LOG = System.getLogger(PortBinder.class.getName());
    private static final Duration CLOSE = Duration.ofSeconds(5);
    private static final int ATTEMPTS = 500;

    private final @Nullable InetAddress address;
    private final int minPort;
    private final int maxPort;
    private final int backlog;

    /**
     * A binder.
     *
     * @param address interface to listen on; null for all, IPv4 and IPv6
     * @param backlog connections that the kernel accepts ahead of the listener
     */
    public PortBinder(@Nullable InetAddress address, int minPort, int maxPort, int backlog) {
        this.address = address;
        this.minPort = minPort;
        this.maxPort = maxPort;
        this.backlog = backlog;
    }

    /**
     * A bound, blocking listener; ERR_SOCKET when the port, or every port that was tried, is taken.
     *
     * @param port the port; 0 for a random one of the range
     */
    public Outcome<ServerSocketChannel> bind(int port) {
        if (port != 0) {
            try {
                return Outcome.ok(listen(port));
            } catch (IOException e) {
                return Outcome.failed(
                        TransferCode.ERR_SOCKET, "listening on port " + port + ": " + e);
            }
        }
        String last = "";
        for (int i = 0; i < ATTEMPTS; i++) {
            // Random, so that a restarted process rarely gets a port that peers still remember.
            int candidate = ThreadLocalRandom.current().nextInt(minPort, maxPort + 1);
            try {
                return Outcome.ok(listen(candidate));
            } catch (IOException e) {
                last = e.toString();
            }
        }
        return Outcome.failed(
                TransferCode.ERR_SOCKET,
                "no port of %d..%d is free after %d attempts: %s"
                        .formatted(minPort, maxPort, ATTEMPTS, last));
    }

    private ServerSocketChannel listen(int port) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open();
        try {
            channel.bind(
                    address == null
                            ? new InetSocketAddress(port)
                            : new InetSocketAddress(address, port),
                    backlog);
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /**
     * Closes a listener and waits for its acceptor: while that is still inside {@code accept}, the
     * port is not free yet.
     */
    public static void close(ServerSocketChannel listener, Thread acceptor) {
        try {
            listener.close();
            if (!acceptor.join(CLOSE)) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "listener-still-open thread={0}",
                        acceptor.getName());
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "listener-close-failed", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
