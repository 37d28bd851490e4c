package io.cassia.transfer;

import io.cassia.transfer.metadata.HostAccess;
import io.cassia.transfer.transport.RouteReason;
import io.cassia.transfer.transport.Transport;
import io.cassia.transfer.transport.shm.Attachment;
import io.cassia.transfer.transport.shm.HostRoute;
import io.cassia.transfer.transport.tcp.TcpRoute;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The ways to a segment's owner that its last descriptor leads to. Immutable.
 *
 * @param access what the descriptor said about the owner's host
 * @param host to the owner's memory, or why there is no such way
 * @param uds over a socket of this host; null without one, or once it has failed
 * @param tcp over the network; null when that is not allowed
 * @param acknowledged whether the owner speaks version 2 of the data protocol
 */
record Ways(
        Optional<HostAccess> access,
        Attachment host,
        @Nullable TcpRoute uds,
        @Nullable TcpRoute tcp,
        boolean acknowledged) {
    /** The route over sockets, the faster one; null when there is none at all. */
    @Nullable TcpRoute lanes() {
        return uds != null ? uds : tcp;
    }

    /** The same without the socket of this host, which does not answer. */
    Ways withoutSocket() {
        return new Ways(access, host, null, tcp, acknowledged);
    }

    /** The transport of a route of these. */
    Transport transport(TcpRoute route) {
        return route == tcp ? Transport.TCP : Transport.UDS;
    }

    /** Says how it stands with each transport. */
    List<RouteReport.Way> report(TransferConfig config, boolean isLocal) {
        List<RouteReport.Way> ways = new ArrayList<>();
        for (Transport transport : Transport.values()) {
            if (!config.allows(transport)) {
                ways.add(way(transport, RouteReason.NOT_ALLOWED.label()));
                continue;
            }
            ways.add(
                    switch (transport) {
                        case LOCAL ->
                                new RouteReport.Way(
                                        transport, isLocal, isLocal ? "" : "another process");
                        case SHM -> byMemory(transport, host.route().filter(HostRoute::mayMap), "");
                        case PROCESS_VM ->
                                byMemory(
                                        transport,
                                        host.route().filter(HostRoute::mayAskKernel),
                                        host.route().map(HostRoute::kernelRefusal).orElse(""));
                        case UDS ->
                                uds != null
                                        ? new RouteReport.Way(transport, true, "")
                                        : way(transport, whyNoSocket());
                        case TCP -> new RouteReport.Way(transport, tcp != null, "");
                    });
        }
        return ways;
    }

    private static RouteReport.Way way(Transport transport, String reason) {
        return new RouteReport.Way(transport, false, reason);
    }

    private RouteReport.Way byMemory(
            Transport transport, Optional<HostRoute> route, String refusal) {
        if (!refusal.isEmpty()) {
            return way(transport, RouteReason.KERNEL_REFUSED.label() + ": " + refusal);
        }
        if (host.isLost()) {
            return way(transport, RouteReason.OWNER_GONE.label());
        }
        if (route.isPresent()) {
            return new RouteReport.Way(transport, true, "");
        }
        return way(
                transport,
                host.route().isPresent() ? RouteReason.NOT_OFFERED.label() : whyNotByMemory());
    }

    private String whyNotByMemory() {
        return host.detail().isEmpty()
                ? host.reason().label()
                : host.reason().label() + ": " + host.detail();
    }

    private String whyNoSocket() {
        return host.socket().isPresent() ? RouteReason.SOCKET_LOST.label() : whyNotByMemory();
    }
}
