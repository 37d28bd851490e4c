package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.MasterSettings;
import io.cassia.app.cluster.ObjectStore;
import io.cassia.base.HostPort;
import io.cassia.master.MasterConfig;
import io.cassia.status.Outcome;
import io.cassia.store.StoreClientConfig;
import java.time.Duration;
import java.util.function.ToIntFunction;
import picocli.CommandLine.Option;

/** Where the cluster is. Confined to its command. */
final class Connection {
    private final Backend backend;

    @Option(
            names = "--master",
            paramLabel = "HOST:PORT",
            defaultValue = "${env:CASSIA_MASTER:-127.0.0.1:50051}",
            description =
                    "RPC address of the master. Default: $CASSIA_MASTER, else 127.0.0.1:50051.")
    private String master = "";

    @Option(
            names = "--metadata",
            paramLabel = "URI",
            defaultValue = "${env:CASSIA_METADATA:-}",
            description = {
                "Transfer Engine metadata: http://host:port/metadata or P2PHANDSHAKE.",
                "Default: $CASSIA_METADATA, else port 8080 on the master's host."
            })
    private String metadata = "";

    @Option(
            names = "--local-host",
            paramLabel = "HOST",
            defaultValue = "127.0.0.1",
            description = "Name under which nodes reach this process. Default: 127.0.0.1.")
    private String localHost = "";

    @Option(
            names = "--tenant",
            paramLabel = "NAME",
            defaultValue = "default",
            description = "Namespace of the keys. Default: default.")
    private String tenant = "";

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            defaultValue = "30s",
            converter = Converters.Limit.class,
            description = "Limit of one operation; a plain number is seconds. Default: 30s.")
    private Duration timeout = Duration.ZERO;

    Connection(Backend backend) {
        this.backend = backend;
    }

    StoreClientConfig config() {
        return new StoreClientConfig(
                master, metadataOf(master, metadata), localHost, tenant, timeout);
    }

    /** The metadata server that belongs to a master unless another one is named. */
    static String metadataOf(String master, String metadata) {
        if (!metadata.isEmpty()) {
            return metadata;
        }
        // An address that is none is refused by whoever connects to it.
        return HostPort.parse(master, MasterConfig.DEFAULT.rpcPort())
                .map(address -> new HostPort(address.host(), MasterSettings.METADATA_PORT))
                .map(address -> "http://" + address + "/metadata")
                .orElse(StoreClientConfig.P2P);
    }

    /** Runs a command's work on a connection and closes it; tells why there is none. */
    int use(Output output, ToIntFunction<ObjectStore> work) {
        return switch (backend.connect(config())) {
            case Outcome.Ok<ObjectStore>(ObjectStore store) -> {
                try (store) {
                    yield work.applyAsInt(store);
                }
            }
            case Outcome.Failed<ObjectStore> failure -> output.failed(failure);
        };
    }
}
