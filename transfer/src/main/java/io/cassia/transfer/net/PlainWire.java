package io.cassia.transfer.net;

import io.cassia.base.Spin;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/** A connection as the kernel has it. Confined as {@link Wire} says. */
public final class PlainWire implements Wire {
    private static final System.Logger LOG = System.getLogger(PlainWire.class.getName());

    private final SocketChannel channel;

    /** Tells how much has come in; none for sockets that cannot tell. */
    private @Nullable InputStream arrivals;

    private boolean insideHost;
    private boolean asked;

    public PlainWire(SocketChannel channel) {
        this.channel = channel;
    }

    @Override
    public long read(ByteBuffer[] into, int from, int count) throws IOException {
        return channel.read(into, from, count);
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        return channel.read(into);
    }

    @Override
    public void stayAwake(Spin spin) throws IOException {
        look();
        InputStream in = arrivals;
        if (in != null) {
            boolean _ = spin.sees(in);
        }
    }

    @Override
    public void stayAwakeForMore(Spin spin) throws IOException {
        look();
        if (insideHost) {
            stayAwake(spin);
        }
    }

    /** Finds out once what kind of socket it is. */
    private void look() throws IOException {
        if (!asked) {
            asked = true;
            if (channel.getLocalAddress() instanceof InetSocketAddress) {
                arrivals = channel.socket().getInputStream();
                insideHost = SocketOptions.isInsideHost(channel);
            }
        }
    }

    @Override
    public void write(ByteBuffer[] out, int from, int count) throws IOException {
        channel.write(out, from, count);
    }

    @Override
    public void write(ByteBuffer out) throws IOException {
        while (out.hasRemaining()) {
            channel.write(out);
        }
    }

    @Override
    public void shutdownOutput() throws IOException {
        channel.shutdownOutput();
    }

    @Override
    public void reset() {
        reset(channel);
    }

    @Override
    public void close() {
        close(channel);
    }

    /** Ends any channel as {@link Wire#reset} does. */
    public static void reset(SocketChannel channel) {
        try {
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        } catch (IOException | UnsupportedOperationException e) {
            LOG.log(System.Logger.Level.TRACE, "connection-closed-already", e);
        }
        close(channel);
    }

    /** Ends any channel as {@link Wire#close} does. */
    public static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "connection-close-failed", e);
        }
    }
}
