package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.MasterSettings;
import io.cassia.app.cluster.ObjectStore;
import io.cassia.app.cluster.Running;
import io.cassia.base.ByteString;
import io.cassia.gateways.rest.RestConfig;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.SegmentStats;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.NodeConfig;
import io.cassia.store.PutOptions;
import io.cassia.store.StoreClientConfig;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** A cluster that is a sorted map. Confined to its test, apart from the replay's one client. */
final class FakeBackend implements Backend, ObjectStore {
    final SortedMap<ByteString, byte[]> objects = new TreeMap<>();
    final List<String> log = new ArrayList<>();
    final List<Record> configurations = new ArrayList<>();
    Optional<Outcome.Failed<?>> failure = Optional.empty();
    final Map<String, String> variables = new HashMap<>();
    int flippedByte = -1;
    MasterSettings master = MasterSettings.embedded();
    RestConfig rest = RestConfig.DEFAULT;
    PutOptions lastPut = PutOptions.DEFAULT;
    int open;

    void fail(StoreCode code, String detail) {
        failure = Optional.of(Outcome.failed(code, detail));
    }

    private <T> Outcome<T> or(Outcome<T> outcome) {
        return failure.isPresent() ? failure.get().as() : outcome;
    }

    @Override
    public Map<String, String> variables() {
        return variables;
    }

    @Override
    public Outcome<ObjectStore> connect(StoreClientConfig config) {
        log.add("connect " + config);
        configurations.add(config);
        open++;
        return Outcome.ok(this);
    }

    @Override
    public Outcome<Running> startMaster(MasterSettings settings) {
        master = settings;
        return or(Outcome.ok(running("master").build()));
    }

    @Override
    public Outcome<Running> startNode(NodeConfig config) {
        log.add("node " + config);
        configurations.add(config);
        return or(Outcome.ok(running("node").node("10.0.0.2:15001").build()));
    }

    @Override
    public Outcome<Running> startCluster(MasterSettings settings, List<NodeConfig> nodes) {
        master = settings;
        String host = nodes.getFirst().localName();
        log.add("cluster " + host + " " + nodes.stream().map(NodeConfig::segmentBytes).toList());
        configurations.addAll(nodes);
        return or(Outcome.ok(running("cluster").node(host + ":15001").build()));
    }

    @Override
    public Outcome<Running> startGateway(StoreClientConfig client, RestConfig config) {
        rest = config;
        log.add("gateway " + client.master() + " " + rest);
        configurations.add(client);
        return or(
                Outcome.ok(
                        new Running.Builder()
                                .listensOn("rest", "http://" + rest.host() + ":" + rest.port())
                                .onClose(() -> log.add("closed gateway"))
                                .build()));
    }

    private Running.Builder running(String what) {
        return new Running.Builder()
                .reachedAt("127.0.0.1:50051", "http://127.0.0.1:8080/metadata")
                .listensOn("rpc", "127.0.0.1:50051")
                .onClose(() -> log.add("closed " + what));
    }

    @Override
    public Outcome<Done> put(ByteString key, MemorySegment value, PutOptions options) {
        lastPut = options;
        if (objects.containsKey(key)) {
            return Outcome.failed(StoreCode.OBJECT_ALREADY_EXISTS, "put " + key + ": it exists");
        }
        objects.put(key, value.toArray(ValueLayout.JAVA_BYTE));
        return or(Outcome.done());
    }

    @Override
    public Outcome<Long> get(ByteString key, MemorySegment into) {
        byte[] value = objects.get(key);
        if (value == null) {
            return or(
                    Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "get " + key + ": no such object"));
        }
        MemorySegment.copy(value, 0, into, ValueLayout.JAVA_BYTE, 0, value.length);
        return or(Outcome.ok((long) value.length));
    }

    @Override
    public List<Outcome<Boolean>> existsBatch(List<ByteString> keys) {
        return keys.stream().map(key -> or(Outcome.ok(objects.containsKey(key)))).toList();
    }

    @Override
    public Outcome<Long> size(ByteString key) {
        byte[] value = objects.get(key);
        return value == null
                ? or(Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "get " + key + ": no such object"))
                : Outcome.ok((long) value.length);
    }

    @Override
    public Outcome<Done> remove(ByteString key, boolean force) {
        log.add("remove " + key + " " + force);
        return objects.remove(key) == null
                ? Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "remove " + key + ": no such object")
                : or(Outcome.done());
    }

    @Override
    public Outcome<Long> removeAll(boolean force) {
        long removed = objects.size();
        objects.clear();
        return or(Outcome.ok(removed));
    }

    @Override
    public Outcome<List<KeyInfo>> list(ByteString prefix, ByteString after, int limit) {
        List<KeyInfo> keys = new ArrayList<>();
        objects.forEach(
                (key, value) -> {
                    if (keys.size() < limit
                            && key.compareTo(after) > 0
                            && key.text().startsWith(prefix.text())) {
                        keys.add(new KeyInfo(key, value.length, true, 1, 0));
                    }
                });
        return or(Outcome.ok(keys));
    }

    @Override
    public Outcome<Stats> stats() {
        Uuid id = new Uuid(1, 2);
        long used = objects.values().stream().mapToLong(value -> value.length).sum();
        return or(
                Outcome.ok(
                        new Stats(
                                4096,
                                used,
                                2048,
                                0,
                                0,
                                objects.size(),
                                1,
                                3,
                                300,
                                0,
                                List.of(
                                        new SegmentStats(
                                                id,
                                                "node-1",
                                                "node-1:15001",
                                                0,
                                                id,
                                                4096,
                                                used,
                                                2048)))));
    }

    @Override
    public List<Outcome<Long>> getPrefix(List<ByteString> keys, List<MemorySegment> into) {
        List<Outcome<Long>> read = new ArrayList<>();
        while (read.size() < keys.size() && objects.containsKey(keys.get(read.size()))) {
            MemorySegment memory = into.get(read.size());
            read.add(get(keys.get(read.size()), memory));
            if (flippedByte >= 0) {
                byte right = memory.get(ValueLayout.JAVA_BYTE, flippedByte);
                memory.set(ValueLayout.JAVA_BYTE, flippedByte, (byte) ~right);
            }
        }
        return read;
    }

    @Override
    public List<Outcome<Done>> putBatch(List<ByteString> keys, List<MemorySegment> values) {
        List<Outcome<Done>> stored = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            stored.add(put(keys.get(i), values.get(i), PutOptions.DEFAULT));
        }
        return stored;
    }

    @Override
    public void close() {
        open--;
    }
}
