package io.cassia.transfer.net;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Opens connections: resolves the host and tries each of its addresses, IPv4 and IPv6, until one
 * answers. Immutable.
 */
public final class Dialer {
    private static final int MAX_ADDRESSES = 16;

    private final Clock clock;
    private final Duration perAddress;

    public Dialer(Clock clock, Duration perAddress) {
        this.clock = clock;
        this.perAddress = perAddress;
    }

    /**
     * A connected blocking channel. ERR_DNS when the host has no address; ERR_SOCKET, with the
     * cause for each address, when none answers until the deadline.
     */
    public Outcome<SocketChannel> connect(String host, int port, long deadlineNanos) {
        return resolve(host, deadlineNanos)
                .then(addresses -> connect(host, addresses, port, deadlineNanos));
    }

    /** The same, for a host that is resolved. */
    Outcome<SocketChannel> connect(
            String host, List<InetAddress> addresses, int port, long deadlineNanos) {
        List<String> causes = new ArrayList<>();
        for (InetAddress address : addresses) {
            InetSocketAddress target = new InetSocketAddress(address, port);
            long left = Math.min(perAddress.toNanos(), deadlineNanos - clock.nanos());
            if (left <= 0) {
                causes.add("deadline is over");
                break;
            }
            try {
                return Outcome.ok(connect(target, left));
            } catch (IOException e) {
                causes.add(target + ": " + cause(e));
            }
        }
        return Outcome.failed(
                TransferCode.ERR_SOCKET,
                "cannot connect to %s port %d (%s)"
                        .formatted(host, port, String.join("; ", causes)));
    }

    private static SocketChannel connect(InetSocketAddress target, long leftNanos)
            throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            SocketOptions.forLongLife(channel);
            int millis = (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(leftNanos));
            channel.socket().connect(target, millis);
            if (channel.getLocalAddress().equals(target)) {
                // Nobody listens: the kernel connected the socket to itself.
                throw new IOException("connection refused");
            }
            SocketOptions.forThisHost(channel);
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static String cause(IOException e) {
        String message = e.getMessage();
        return message == null ? e.getClass().getSimpleName() : message;
    }

    /** All addresses of a host, within the deadline; literals need no resolver. */
    public Outcome<List<InetAddress>> resolve(String host, long deadlineNanos) {
        try {
            return Outcome.ok(List.of(InetAddress.ofLiteral(host)));
        } catch (IllegalArgumentException e) {
            // A name.
        }
        // The system's resolver has no deadline: it is asked on a thread that may be left alone.
        CompletableFuture<InetAddress[]> answer = new CompletableFuture<>();
        Thread.ofVirtual()
                .name("cassia-resolve")
                .start(
                        () -> {
                            try {
                                answer.complete(InetAddress.getAllByName(host));
                            } catch (UnknownHostException | RuntimeException e) {
                                answer.completeExceptionally(e);
                            }
                        });
        try {
            long left = deadlineNanos - clock.nanos();
            InetAddress[] found = answer.get(Math.max(0, left), TimeUnit.NANOSECONDS);
            List<InetAddress> all = List.of(found);
            return Outcome.ok(all.subList(0, Math.min(all.size(), MAX_ADDRESSES)));
        } catch (ExecutionException e) {
            return Outcome.failed(
                    TransferCode.ERR_DNS,
                    "host \"" + host + "\" does not resolve: " + e.getCause());
        } catch (TimeoutException e) {
            return Outcome.failed(
                    TransferCode.ERR_DNS, "host \"" + host + "\": the resolver does not answer");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Outcome.failed(
                    TransferCode.ERR_DNS, "host \"" + host + "\": interrupted while resolving");
        }
    }
}
