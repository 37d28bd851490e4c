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

/**
 * The bound ports of an engine. Immutable.
 *
 * @param rpc for handshakes
 * @param data for bytes
 */
record Listeners(ServerSocketChannel rpc, ServerSocketChannel data) {
    private static final System.Logger LOG = System.getLogger(Listeners.class.getName());

    /**
     * Opens both. ERR_DNS when the host, or the address to listen on, does not resolve; ERR_SOCKET
     * when no handshake port can be had, ERR_CONTEXT when no data port can: then there is no
     * transport.
     */
    static Outcome<Listeners> open(TransferConfig config, Clock clock) {
        long deadline = clock.nanos() + config.timeouts().connect().toNanos();
        Dialer dialer = new Dialer(clock, config.timeouts().connect());
        return dialer.resolve(config.localHost(), deadline)
                .then(
                        addresses ->
                                config.network().bindAddress().isEmpty()
                                        ? bind(config, loopback(addresses))
                                        : dialer.resolve(
                                                        config.network().bindAddress().get(),
                                                        deadline)
                                                .then(bound -> bind(config, bound.getFirst())));
    }

    private static Outcome<Listeners> bind(TransferConfig config, @Nullable InetAddress address) {
        TransferConfig.Ports ports = config.ports();
        PortBinder binder =
                new PortBinder(address, ports.min(), ports.max(), config.network().backlog());
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
                    LOG.log(System.Logger.Level.DEBUG, "listener-close-failed", e);
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
}
