package io.cassia.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;

/**
 * A port of this host at which so many connections wait that the next one never comes to be: the
 * kernel drops what comes, as an address that leads nowhere does. Confined to one thread.
 *
 * <p>It stays so until it is closed, as long as nobody accepts there.
 */
public final class CrowdedPort implements AutoCloseable {
    private static final int MOST = 10_000;
    private static final int PATIENCE_MILLIS = 100;

    private final int port;
    private final List<AutoCloseable> open = new ArrayList<>();

    private CrowdedPort(int port) {
        this.port = port;
    }

    /** A port of its own. */
    public static CrowdedPort open() throws IOException {
        ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        CrowdedPort crowded = new CrowdedPort(listener.getLocalPort());
        crowded.open.add(listener);
        return crowded.fill();
    }

    /** The port of somebody who does not accept, a stopped process for example. */
    public static CrowdedPort at(int port) {
        return new CrowdedPort(port).fill();
    }

    public int port() {
        return port;
    }

    private CrowdedPort fill() {
        int refused = 0;
        // Twice: once might be a slow machine.
        for (int i = 0; i < MOST && refused < 2; i++) {
            refused = connects() ? 0 : refused + 1;
        }
        if (refused < 2) {
            close();
            throw new IllegalStateException("port " + port + " never fills");
        }
        return this;
    }

    private boolean connects() {
        Socket filler = new Socket();
        open.add(filler);
        try {
            filler.connect(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port), PATIENCE_MILLIS);
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        for (AutoCloseable each : open.reversed()) {
            try {
                each.close();
            } catch (Exception e) {
                throw new IllegalStateException("port " + port, e);
            }
        }
    }
}
