package io.cassia.transfer;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.topology.DeviceFilter;
import io.cassia.transfer.topology.HostProbe;
import io.cassia.transfer.topology.HostTopology;
import io.cassia.transfer.topology.RdmaContexts;
import io.cassia.transfer.topology.Verbs;
import java.util.List;
import java.util.Optional;

/** Whether an engine can speak the protocol that it was configured for. Immutable. */
final class ProtocolCheck {
    private static final String RDMA = "rdma";

    private ProtocolCheck() {}

    /**
     * ERR_NOT_IMPLEMENTED for a protocol that this build does not move bytes by; for {@code rdma}
     * ERR_DEVICE_NOT_FOUND and ERR_CONTEXT tell first what is missing on this host.
     */
    static Outcome<Done> check(String protocol) {
        if (protocol.equals(TransferConfig.TCP)) {
            return Outcome.done();
        }
        if (protocol.isEmpty()) {
            return Outcome.failed(TransferCode.ERR_INVALID_ARGUMENT, "the protocol is empty");
        }
        return protocol.equals(RDMA) ? rdma() : missing(protocol, "");
    }

    private static Outcome<Done> rdma() {
        HostTopology host = HostProbe.system().discover();
        Optional<Verbs> verbs = Verbs.load();
        if (verbs.isEmpty()) {
            return host.requireDevices(DeviceFilter.ALL).map(_ -> Done.DONE);
        }
        return RdmaContexts.open(verbs.get(), host, DeviceFilter.ALL)
                .then(
                        contexts -> {
                            List<String> devices = contexts.devices();
                            contexts.close();
                            return missing(RDMA, "; the devices " + devices + " can be opened");
                        });
    }

    private static Outcome<Done> missing(String protocol, String more) {
        return Outcome.failed(
                TransferCode.ERR_NOT_IMPLEMENTED,
                "protocol %s: this build moves bytes by tcp%s; use protocol tcp"
                        .formatted(protocol, more));
    }
}
