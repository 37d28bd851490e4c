package io.cassia.transfer;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.net.Dialer;
import io.cassia.transfer.net.PortBinder;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Bound listeners of an engine that is being started. Immutable. */
record Listeners(ServerSocketChannel rpc, ServerSocketChannel data) {
    /**
     * Binds both ports. ERR_DNS when the own host does not resolve, ERR_SOCKET when the handshake
     * port cannot be had, ERR_CONTEXT when the data port cannot: then the engine has no transport.
     */
    static Outcome<Listeners> open(TransferConfig config, Clock clock) {
        long deadline = clock.nanos() + config.timeouts().connect().toNanos();
        return new Dialer(clock, config.timeouts().connect())
                .resolve(config.localHost(), deadline)
                .then(addresses -> open(config.ports(), loopback(addresses)));
    }

    private static Outcome<Listeners> open(
            TransferConfig.Ports ports, @Nullable InetAddress address) {
        PortBinder binder = new PortBinder(address, ports.min(), ports.max());
        return binder.bind(ports.rpc()).then(rpc -> second(rpc, binder.bind(ports.data())));
    }

    private static Outcome<Listeners> second(
            ServerSocketChannel rpc, Outcome<ServerSocketChannel> data) {
        return switch (data) {
            case Outcome.Ok<ServerSocketChannel>(ServerSocketChannel bound) ->
                    Outcome.ok(new Listeners(rpc, bound));
            case Outcome.Failed<ServerSocketChannel>(var _, String detail) -> {
                try {
                    rpc.close();
                } catch (IOException e) {
                    System.getLogger(Listeners.class.getName())
                            .log(System.Logger.Level.DEBUG, "listener-close-failed", e);
                }
                yield Outcome.failed(
                        TransferCode.ERR_CONTEXT, "protocol tcp has no data port: " + detail);
            }
        };
    }

    /**
     * A host name that peers can only use on this host is served on this host only; any other one
     * on all interfaces, as upstream does it.
     */
    private static @Nullable InetAddress loopback(List<InetAddress> addresses) {
        return addresses.stream().allMatch(InetAddress::isLoopbackAddress)
                ? addresses.getFirst()
                : null;
    }

    int rpcPort() {
        return rpc.socket().getLocalPort();
    }

    int dataPort() {
        return data.socket().getLocalPort();
    }
}
