package io.cassia.store;

import io.cassia.base.Clock;
import io.cassia.master.Master;
import io.cassia.master.MasterConfig;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A master, nodes and clients in this process. Confined to its test. */
final class Cluster implements AutoCloseable {
    final MeterRegistry meters = new SimpleMeterRegistry();
    private final Master master;
    private final MeterRegistry masterMeters;
    private final List<StorageNode> nodes = new ArrayList<>();
    private final List<StoreClient> clients = new ArrayList<>();

    private Cluster(Master master, MeterRegistry masterMeters) {
        this.master = master;
        this.masterMeters = masterMeters;
    }

    static Cluster start() {
        return start(MasterConfig.builder());
    }

    static Cluster start(MasterConfig.Builder settings) {
        MasterConfig config = settings.rpc("127.0.0.1", 0).httpOff().build();
        MeterRegistry meters = new SimpleMeterRegistry();
        return new Cluster(
                Master.start(config, Clock.system(), meters, () -> "").orThrow(), meters);
    }

    /** Requests that the master has handled since the start, by method. */
    Map<String, Long> requests() {
        Map<String, Long> requests = new TreeMap<>();
        for (Counter counter : masterMeters.find("cassia.rpc.server.requests").counters()) {
            if (counter.count() > 0) {
                requests.put(counter.getId().getTag("method"), (long) counter.count());
            }
        }
        return requests;
    }

    /** What the master was asked during an action, without what nodes and readers ask. */
    Map<String, Long> requestsOf(Runnable action) {
        Map<String, Long> before = requests();
        action.run();
        Map<String, Long> asked = new TreeMap<>();
        requests()
                .forEach(
                        (method, count) -> {
                            long more = count - before.getOrDefault(method, 0L);
                            boolean other =
                                    List.of("Ping", "FetchTasks", "Release").contains(method);
                            if (more > 0 && !other) {
                                asked.put(method, more);
                            }
                        });
        return asked;
    }

    double masterCount(String name) {
        return masterMeters.get(name).functionCounter().count();
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
        return client(config, Clock.system());
    }

    StoreClient client(StoreClientConfig config, Clock clock) {
        StoreClient client = StoreClient.connect(config, clock, meters).orThrow();
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
