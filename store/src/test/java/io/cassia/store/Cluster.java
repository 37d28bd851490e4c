package io.cassia.store;

import io.cassia.base.Clock;
import io.cassia.master.Master;
import io.cassia.master.MasterConfig;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A master, nodes and clients in this process. Confined to its test. */
final class Cluster implements AutoCloseable {
    final MeterRegistry meters = new SimpleMeterRegistry();
    private final Master master;
    private final List<StorageNode> nodes = new ArrayList<>();
    private final List<StoreClient> clients = new ArrayList<>();

    private Cluster(Master master) {
        this.master = master;
    }

    static Cluster start() {
        MasterConfig config = MasterConfig.builder().rpc("127.0.0.1", 0).httpOff().build();
        return new Cluster(
                Master.start(config, Clock.system(), new SimpleMeterRegistry(), () -> "")
                        .orThrow());
    }

    String address() {
        return "127.0.0.1:" + master.rpcPort();
    }

    StorageNode node(long bytes) {
        return node(new NodeConfig(address(), StoreClientConfig.P2P, "127.0.0.1", bytes));
    }

    StorageNode node(NodeConfig config) {
        StorageNode node =
                StorageNode.start(config, Clock.system(), new SimpleMeterRegistry()).orThrow();
        nodes.add(node);
        return node;
    }

    StoreClient client() {
        return client(StoreClientConfig.Memory.DEFAULT);
    }

    StoreClientConfig config() {
        return new StoreClientConfig(
                address(), StoreClientConfig.P2P, "127.0.0.1", "default", Duration.ofSeconds(20));
    }

    StoreClient client(StoreClientConfig.Memory memory) {
        return client(config().withMemory(memory));
    }

    StoreClient client(StoreClientConfig config) {
        StoreClient client = StoreClient.connect(config, Clock.system(), meters).orThrow();
        clients.add(client);
        return client;
    }

    @Override
    public void close() {
        clients.forEach(StoreClient::close);
        clients.clear();
        nodes.forEach(StorageNode::close);
        nodes.clear();
        master.close();
    }
}
