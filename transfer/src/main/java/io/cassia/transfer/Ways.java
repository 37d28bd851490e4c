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
 */
record Ways(
        Optional<HostAccess> access,
        Attachment host,
        @Nullable TcpRoute uds,
        @Nullable TcpRoute tcp) {
    /** Before any descriptor was read. */
    static final Ways NONE = new Ways(Optional.empty(), Attachment.NOT_TRIED, null, null);

    /** The route over sockets, the faster one; null when there is none at all. */
    @Nullable TcpRoute lanes() {
        return uds != null ? uds : tcp;
    }

    /** The same without the socket of this host, which does not answer. */
    Ways withoutSocket() {
        return new Ways(access, host, null, tcp);
    }

    /** The transport of a route of these. */
    Transport transport(TcpRoute route) {
        return route == tcp ? Transport.TCP : Transport.UDS;
    }

    /**
     * Why a transport over sockets is taken.
     *
     * @param left why the way to the owner's memory has left something; PREFERRED when it was not
     *     asked
     */
    RouteReason reason(Transport transport, RouteReason left) {
        if (left != RouteReason.PREFERRED) {
            return left;
        }
        return transport == Transport.TCP && host.socket().isPresent()
                ? RouteReason.SOCKET_LOST
                : host.reason();
    }

    /** Says how it stands with each transport. */
    RouteReport report(String segment, TransferConfig config, boolean isLocal) {
        List<RouteReport.Way> ways = new ArrayList<>();
        for (Transport transport : Transport.values()) {
            ways.add(
                    config.allows(transport)
                            ? report(transport, isLocal)
                            : unusable(transport, RouteReason.NOT_ALLOWED.label()));
        }
        return new RouteReport(segment, ways);
    }

    private RouteReport.Way report(Transport transport, boolean isLocal) {
        return switch (transport) {
            case LOCAL -> isLocal ? usable(transport) : unusable(transport, "other-process");
            case SHM -> byMemory(transport, host.route().filter(HostRoute::mayMap));
            case PROCESS_VM -> {
                String refusal = host.route().map(HostRoute::kernelRefusal).orElse("");
                yield refusal.isEmpty()
                        ? byMemory(transport, host.route().filter(HostRoute::mayAskKernel))
                        : unusable(transport, RouteReason.KERNEL_REFUSED.label() + ": " + refusal);
            }
            case UDS -> {
                String why =
                        host.socket().isPresent()
                                ? RouteReason.SOCKET_LOST.label()
                                : whyNoAttachment();
                yield uds != null ? usable(transport) : unusable(transport, why);
            }
            case TCP -> tcp != null ? usable(transport) : unusable(transport, whyNoAttachment());
        };
    }

    private static RouteReport.Way usable(Transport transport) {
        return new RouteReport.Way(transport, true, "");
    }

    private static RouteReport.Way unusable(Transport transport, String reason) {
        return new RouteReport.Way(transport, false, reason);
    }

    private RouteReport.Way byMemory(Transport transport, Optional<HostRoute> route) {
        if (host.isLost()) {
            return unusable(transport, RouteReason.OWNER_GONE.label());
        }
        if (route.isPresent()) {
            return usable(transport);
        }
        return unusable(
                transport,
                host.route().isPresent() ? RouteReason.NOT_OFFERED.label() : whyNoAttachment());
    }

    private String whyNoAttachment() {
        return host.detail().isEmpty()
                ? host.reason().label()
                : host.reason().label() + ": " + host.detail();
    }
}
