package io.cassia.lab.process;

import io.cassia.base.Clock;
import io.cassia.store.StoreClient;
import io.cassia.store.StoreClientConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** A master and nodes in processes of their own, on free loopback ports. Confined to its test. */
public final class ProcessCluster implements AutoCloseable {
    private final CassiaProcess master;
    private final Map<String, String> variables;
    private final String address;
    private final JsonNode addresses;
    private final List<CassiaProcess> nodes = new ArrayList<>();

    private ProcessCluster(CassiaProcess master, JsonNode ready, Map<String, String> variables) {
        this.master = master;
        this.variables = variables;
        this.address = ready.get("master").asString();
        this.addresses = ready.get("addresses");
    }

    /** A master with free ports and further options. */
    public static ProcessCluster start(String... masterOptions) throws Exception {
        return start(Map.of(), masterOptions);
    }

    /** The same; {@link Footprint} can be taken of its processes. */
    public static ProcessCluster startMeasured(String... masterOptions) throws Exception {
        return start(Map.of("JAVA_TOOL_OPTIONS", Footprint.JAVA_OPTIONS), masterOptions);
    }

    private static ProcessCluster start(Map<String, String> variables, String... masterOptions)
            throws Exception {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "master",
                                "--json",
                                "--rpc-port",
                                "0",
                                "--http-port",
                                "0",
                                "--metadata-port",
                                "0"));
        arguments.addAll(List.of(masterOptions));
        CassiaProcess master = CassiaProcess.launch(variables, arguments.toArray(String[]::new));
        try {
            JsonNode ready = master.ready();
            return new ProcessCluster(master, ready, variables);
        } catch (Exception e) {
            master.close();
            throw e;
        }
    }

    /** Adds a node and waits until it is mounted. */
    public CassiaProcess node(String segment) throws Exception {
        return node(segment, Map.of());
    }

    /** Adds a node whose memory is reached over TCP alone, as if it were on another host. */
    public CassiaProcess remoteNode(String segment) throws Exception {
        return node(segment, Map.of("MC_FORCE_TCP", "1"));
    }

    private CassiaProcess node(String segment, Map<String, String> more) throws Exception {
        Map<String, String> all = new HashMap<>(variables);
        all.putAll(more);
        CassiaProcess node =
                CassiaProcess.launch(
                        all,
                        "node",
                        "--json",
                        "--master",
                        address,
                        "--metadata",
                        StoreClientConfig.P2P,
                        "--segment",
                        segment);
        nodes.add(node);
        node.ready();
        return node;
    }

    /** Starts the REST service on a free port; closing it is the caller's. */
    public CassiaProcess gateway(String... options) throws IOException {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "gateway",
                                "--json",
                                "--master",
                                address,
                                "--metadata",
                                StoreClientConfig.P2P,
                                "--rest-port",
                                "0"));
        arguments.addAll(List.of(options));
        return CassiaProcess.launch(variables, arguments.toArray(String[]::new));
    }

    public String address() {
        return address;
    }

    /** Everything that the master's process listens on, by name. */
    public JsonNode addresses() {
        return addresses;
    }

    public CassiaProcess master() {
        return master;
    }

    public StoreClient client(Duration deadline) {
        return client(deadline, StoreClientConfig.Memory.DEFAULT);
    }

    private StoreClient client(Duration deadline, StoreClientConfig.Memory memory) {
        StoreClientConfig config =
                new StoreClientConfig(
                                address, StoreClientConfig.P2P, "127.0.0.1", "default", deadline)
                        .withMemory(memory);
        return StoreClient.connect(config, Clock.system(), new SimpleMeterRegistry()).orThrow();
    }

    /** One whose puts take no more of the pool than their objects. */
    public StoreClient exactClient() {
        return client(Duration.ofSeconds(30), StoreClientConfig.Memory.DEFAULT.withReserve(false));
    }

    public StoreClient client() {
        return client(Duration.ofSeconds(30));
    }

    @Override
    public void close() throws IOException {
        for (CassiaProcess node : nodes) {
            node.close();
        }
        master.close();
    }
}
