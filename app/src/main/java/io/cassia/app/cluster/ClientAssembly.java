package io.cassia.app.cluster;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.store.PutOptions;
import io.cassia.store.StoreClient;
import io.cassia.store.StoreClientConfig;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Wires a client of the store. Immutable. */
final class ClientAssembly {
    private ClientAssembly() {}

    static Outcome<ObjectStore> connect(
            StoreClientConfig config, Clock clock, MeterRegistry meters) {
        return StoreClient.connect(config, clock, meters).map(Connected::new);
    }

    /** Immutable. */
    private record Connected(StoreClient client) implements ObjectStore {
        @Override
        public Outcome<Done> put(ByteString key, MemorySegment value, PutOptions options) {
            return client.put(key, value, options);
        }

        @Override
        public Outcome<Long> get(ByteString key, MemorySegment into) {
            return client.get(key, into);
        }

        @Override
        public List<Outcome<Boolean>> existsBatch(List<ByteString> keys) {
            return client.existsBatch(keys);
        }

        @Override
        public Outcome<Long> size(ByteString key) {
            return client.size(key);
        }

        @Override
        public Outcome<Done> remove(ByteString key, boolean force) {
            return client.remove(key, force);
        }

        @Override
        public Outcome<Long> removeAll(boolean force) {
            return client.removeAll(force);
        }

        @Override
        public Outcome<List<KeyInfo>> list(ByteString prefix, ByteString after, int limit) {
            return client.list(prefix, after, limit);
        }

        @Override
        public Outcome<Stats> stats() {
            return client.stats();
        }

        @Override
        public List<Outcome<Long>> getPrefix(List<ByteString> keys, List<MemorySegment> into) {
            return client.getPrefix(keys, into);
        }

        @Override
        public List<Outcome<Done>> putBatch(List<ByteString> keys, List<MemorySegment> values) {
            return client.putBatch(keys, values, PutOptions.DEFAULT);
        }

        @Override
        public void close() {
            client.close();
        }
    }
}
