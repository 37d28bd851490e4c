package io.cassia.app.cluster;

import io.cassia.base.Clock;
import io.cassia.gateways.rest.RestConfig;
import io.cassia.status.Outcome;
import io.cassia.store.NodeConfig;
import io.cassia.store.StoreClientConfig;
import java.util.List;
import java.util.Map;

/** Where the commands get clients and servers from: the real assemblies, or fakes in a test. */
public interface Backend {
    /** The environment, which decides what no option says. */
    Map<String, String> variables();

    /** A client of a running cluster; the codes are those of the store client. */
    Outcome<ObjectStore> connect(StoreClientConfig config);

    /** A master, and beside it a metadata server when the settings ask for one. */
    Outcome<Running> startMaster(MasterSettings settings);

    /** A storage node of a running master. */
    Outcome<Running> startNode(NodeConfig config);

    /**
     * A whole cluster in this process.
     *
     * @param nodes one each; they join the master of this call, whatever they say
     */
    Outcome<Running> startCluster(MasterSettings settings, List<NodeConfig> nodes);

    /**
     * The same with nodes that are not told more.
     *
     * @param host name under which peers reach the nodes
     * @param segments memory of each node in bytes; one node per entry
     */
    default Outcome<Running> startCluster(
            MasterSettings settings, String host, List<Long> segments) {
        return startCluster(
                settings,
                segments.stream().map(bytes -> new NodeConfig("", "", host, bytes)).toList());
    }

    /** The REST service of a running cluster, with a client of its own. */
    Outcome<Running> startGateway(StoreClientConfig client, RestConfig rest);

    /**
     * The product's own parts.
     *
     * @param variables the process's environment, which decides the settings of its engines
     */
    static Backend real(Clock clock, Map<String, String> variables) {
        return new RealBackend(clock, Map.copyOf(variables));
    }
}
