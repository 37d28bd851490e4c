package io.cassia.transfer.transport.shm;

import io.cassia.transfer.transport.RouteReason;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What came of the attempt to reach a peer without the network. Immutable.
 *
 * @param route to its memory; absent for the reason that follows
 * @param reason why there is no route; {@link RouteReason#PREFERRED} when there is one
 * @param detail the same for people
 * @param socket of its data protocol, when the peer has proved that it is on this host
 */
public record Attachment(
        Optional<HostRoute> route, RouteReason reason, String detail, Optional<Path> socket) {
    /** The attempt has not been made. */
    public static final Attachment NOT_TRIED = refused(RouteReason.PREFERRED, "not tried yet");

    static Attachment refused(RouteReason reason, String detail) {
        return new Attachment(Optional.empty(), reason, detail, Optional.empty());
    }

    /** Whether another attempt may end better without the peer's doing. */
    public boolean isWorthAnother() {
        return reason == RouteReason.CROWDED;
    }

    /** Whether there is a route and it is lost. */
    public boolean isLost() {
        return route.isPresent() && route.get().isLost();
    }

    /** Lets go of the peer's memory. */
    public void close() {
        route.ifPresent(HostRoute::close);
    }
}
