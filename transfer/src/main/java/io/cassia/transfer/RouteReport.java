package io.cassia.transfer;

import io.cassia.transfer.transport.Transport;
import java.util.List;
import java.util.Optional;

/**
 * How one opened segment is reached at the moment. Immutable.
 *
 * @param segment published name
 * @param ways one per transport, the fastest first
 */
public record RouteReport(String segment, List<Way> ways) {
    /**
     * One transport. Immutable.
     *
     * @param transport which
     * @param usable whether requests can be given to it
     * @param reason label of why not; when it is usable, what else there is to say, or empty
     */
    public record Way(Transport transport, boolean usable, String reason) {}

    public RouteReport {
        ways = List.copyOf(ways);
    }

    /** The fastest that is usable: what a request takes unless its own memory stands against it. */
    public Optional<Transport> preferred() {
        return ways.stream().filter(Way::usable).map(Way::transport).findFirst();
    }
}
