package io.cassia.app.cluster;

import io.cassia.base.HostPort;
import io.cassia.base.config.Configuration;
import io.cassia.master.MasterConfig;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.NodeConfig;
import io.cassia.store.StoreClientConfig;
import io.cassia.store.StoreClientConfig.Calls;
import io.cassia.store.StoreClientConfig.Memory;
import io.cassia.transfer.Security;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Makes clients and nodes of configurations of {@link StoreFlags}. Immutable. */
public final class StoreSettings {
    private StoreSettings() {}

    /** A client, of {@link StoreFlags#CLIENT}. INVALID_PARAMS when values do not go together. */
    public static Outcome<StoreClientConfig> client(Configuration from) {
        return security(from)
                .map(
                        security ->
                                new StoreClientConfig(
                                                from.require(StoreFlags.MASTER),
                                                metadata(from),
                                                from.require(StoreFlags.LOCAL_HOST),
                                                from.require(StoreFlags.TENANT),
                                                from.require(StoreFlags.TIMEOUT))
                                        .withMemory(memory(from))
                                        .withCalls(
                                                new Calls(
                                                        from.require(StoreFlags.CONNECT_TIMEOUT),
                                                        from.require(StoreFlags.RETRY_TIME)))
                                        .withSecurity(security));
    }

    /** What a client may use, of a table with these rows. */
    public static Memory memory(Configuration from) {
        return Memory.DEFAULT
                .withLocalBuffer(from.require(StoreFlags.LOCAL_BUFFER))
                .withHotCache(from.require(StoreFlags.HOT_CACHE))
                .withHotBlock(from.require(StoreFlags.HOT_BLOCK))
                .withCrc64(from.require(StoreFlags.CRC64))
                .withReserve(from.require(StoreFlags.RESERVE_AHEAD));
    }

    /** A node, of {@link StoreFlags#NODE}. INVALID_PARAMS when values do not go together. */
    public static Outcome<NodeConfig> node(Configuration from) {
        return security(from)
                .map(
                        security ->
                                new NodeConfig(
                                                from.require(StoreFlags.MASTER),
                                                metadata(from),
                                                from.require(StoreFlags.HOST),
                                                from.require(StoreFlags.SEGMENT))
                                        .withLongestSegment(
                                                from.require(StoreFlags.LONGEST_SEGMENT))
                                        .withDrainTime(from.require(StoreFlags.DRAIN))
                                        .withSecurity(security));
    }

    /** How its engine proves who it is, of a table with these rows. */
    public static Outcome<Security> security(Configuration from) {
        Optional<Path> keys = from.find(StoreFlags.KEY_STORE);
        if (keys.isEmpty()) {
            return from.find(StoreFlags.TRUST_STORE).isPresent()
                    ? Outcome.failed(StoreCode.INVALID_PARAMS, "trust-store needs key-store")
                    : Outcome.ok(Security.PLAIN);
        }
        Path trust = from.find(StoreFlags.TRUST_STORE).orElse(keys.get());
        for (Path file : new Path[] {keys.get(), trust}) {
            if (!Files.isReadable(file)) {
                return Outcome.failed(
                        StoreCode.INVALID_PARAMS, "key-store, trust-store: cannot read " + file);
            }
        }
        try {
            return Outcome.ok(
                    new Security.Mutual(
                            keys.get(),
                            trust,
                            from.find(StoreFlags.STORE_PASSWORD).orElse(""),
                            from.find(StoreFlags.CLUSTER_TOKEN).orElse(""),
                            from.require(StoreFlags.VERIFY_HOST)));
        } catch (IllegalArgumentException e) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "cluster-token (CASSIA_CLUSTER_TOKEN): " + e.getMessage());
        }
    }

    private static String metadata(Configuration from) {
        return metadataOf(
                from.require(StoreFlags.MASTER), from.find(StoreFlags.METADATA).orElse(""));
    }

    /** The metadata server that belongs to a master unless another one is named. */
    public static String metadataOf(String master, String metadata) {
        if (!metadata.isEmpty()) {
            return metadata;
        }
        // An address that is none is refused by whoever connects to it.
        return HostPort.parse(master, MasterConfig.DEFAULT.rpcPort())
                .map(address -> new HostPort(address.host(), MasterSettings.METADATA_PORT))
                .map(address -> "http://" + address + "/metadata")
                .orElse(StoreClientConfig.P2P);
    }
}
