package io.cassia.transfer.net;

import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import jdk.net.ExtendedSocketOptions;

/** How sockets of lasting connections are set. Immutable. */
public final class SocketOptions {
    private static final int IDLE_SECONDS = 30;
    private static final int INTERVAL_SECONDS = 10;
    private static final int PROBES = 3;

    private SocketOptions() {}

    /**
     * No waiting for company, and a peer that has silently gone is noticed within a minute: lanes
     * stay idle for as long as nobody needs them. Buffer sizes are left to the kernel; large fixed
     * ones are slower.
     */
    public static void forLongLife(SocketChannel channel) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        set(channel, ExtendedSocketOptions.TCP_KEEPIDLE, IDLE_SECONDS);
        set(channel, ExtendedSocketOptions.TCP_KEEPINTERVAL, INTERVAL_SECONDS);
        set(channel, ExtendedSocketOptions.TCP_KEEPCOUNT, PROBES);
    }

    private static void set(SocketChannel channel, SocketOption<Integer> option, int value)
            throws IOException {
        if (channel.supportedOptions().contains(option)) {
            channel.setOption(option, value);
        }
    }
}
