package io.cassia.transfer;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.topology.DeviceFilter;
import io.cassia.transfer.topology.HostPaths;
import io.cassia.transfer.topology.HostProbe;
import io.cassia.transfer.topology.InterfaceAddresses;
import io.cassia.transfer.topology.RdmaContexts;
import io.cassia.transfer.topology.Verbs;
import java.util.Optional;

/** What becomes of the wish for RDMA. Immutable. */
final class RdmaStart {
    private RdmaStart() {}

    /**
     * Nothing to do for TCP. For RDMA: ERR_DEVICE_NOT_FOUND without a device, ERR_CONTEXT when it
     * cannot be opened, and ERR_NOT_IMPLEMENTED when it can.
     */
    static Outcome<Done> check(TransferConfig.Network network) {
        return switch (network.protocol()) {
            case TCP -> Outcome.done();
            case RDMA -> open(HostPaths.system(), Verbs.load(), network.devices());
        };
    }

    static Outcome<Done> open(HostPaths paths, Optional<Verbs> verbs, DeviceFilter filter) {
        HostProbe probe = new HostProbe(paths, InterfaceAddresses.system(), verbs);
        return RdmaContexts.open(verbs, probe.discover(), filter).then(RdmaStart::unspoken);
    }

    private static Outcome<Done> unspoken(RdmaContexts contexts) {
        try (contexts) {
            return Outcome.failed(
                    TransferCode.ERR_NOT_IMPLEMENTED,
                    "RDMA devices %s can be opened, but this engine does not move bytes over them;"
                                    .formatted(contexts.devices())
                            + " use protocol tcp");
        }
    }
}
