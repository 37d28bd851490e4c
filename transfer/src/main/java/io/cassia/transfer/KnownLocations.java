package io.cassia.transfer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.topology.Accelerator;
import io.cassia.transfer.topology.HostProbe;
import io.cassia.transfer.topology.HostTopology;
import io.cassia.transfer.topology.Location;
import io.cassia.transfer.topology.NumaNode;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The memory locations of this host. Guarded: the host is looked at once, when somebody names a
 * location for the first time.
 */
final class KnownLocations {
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private @Nullable HostTopology known;

    /**
     * ERR_INVALID_ARGUMENT when the text is no location, ERR_DEVICE_NOT_FOUND when this host has no
     * such place.
     */
    Outcome<Done> check(String location) {
        return location.equals(Location.WILDCARD)
                ? Outcome.done()
                : Location.parse(location).then(this::check);
    }

    private Outcome<Done> check(Location location) {
        return switch (location) {
            case Location.Any() -> Outcome.done();
            case Location.Cpu(int node) -> nodes(List.of(node));
            case Location.Pieces pieces -> nodes(pieces.nodes());
            case Location.Device device -> {
                List<String> present =
                        host().accelerators().stream().map(Accelerator::location).toList();
                yield present.contains(device.toString())
                        ? Outcome.done()
                        : notFound(device.toString(), "accelerators " + present);
            }
        };
    }

    private Outcome<Done> nodes(List<Integer> wanted) {
        List<Integer> present = host().numaNodes().stream().map(NumaNode::id).toList();
        return present.containsAll(wanted)
                ? Outcome.done()
                : notFound("NUMA node of " + wanted, "NUMA nodes " + present);
    }

    private static Outcome<Done> notFound(String wanted, String present) {
        return Outcome.failed(
                TransferCode.ERR_DEVICE_NOT_FOUND,
                "location %s: this host has %s; use *".formatted(wanted, present));
    }

    private HostTopology host() {
        lock.lock();
        try {
            if (known == null) {
                known = HostProbe.system().discover();
            }
            return known;
        } finally {
            lock.unlock();
        }
    }
}
