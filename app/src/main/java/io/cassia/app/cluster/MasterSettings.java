package io.cassia.app.cluster;

import io.cassia.base.config.Configuration;
import io.cassia.base.config.ValueType;
import io.cassia.master.MasterConfig;
import io.cassia.master.TaskLimits;
import io.cassia.master.core.AllocationStrategy;
import io.cassia.master.core.EvictionPolicy;
import io.cassia.master.events.KvEventsConfig;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Locale;
import java.util.Optional;

/**
 * A master and the metadata server beside it. Immutable.
 *
 * @param config the master
 * @param metadataHost address that the metadata server listens on
 * @param metadataPort of the Transfer Engine metadata server; 0 takes a free one, {@link
 *     #NO_METADATA} starts none and engines then find each other by handshake alone
 */
public record MasterSettings(MasterConfig config, String metadataHost, int metadataPort) {
    public static final int NO_METADATA = -1;
    public static final int METADATA_PORT = 8080;

    /** For a master of this process alone: a free port, nothing beside it, eviction on demand. */
    public static MasterSettings embedded() {
        return embedded(EvictionPolicy.LRU);
    }

    /** The same with a policy of eviction. */
    public static MasterSettings embedded(EvictionPolicy evictionPolicy) {
        return new MasterSettings(
                MasterConfig.builder()
                        .rpc("127.0.0.1", 0)
                        .httpOff()
                        .eviction(1.0, MasterConfig.DEFAULT.evictionRatio())
                        .evictionPolicy(evictionPolicy)
                        .reportMetrics(false)
                        .build(),
                "127.0.0.1",
                NO_METADATA);
    }

    /**
     * Those of a configuration of {@link MasterFlags}. INVALID_PARAMS when values exclude each
     * other.
     */
    public static Outcome<MasterSettings> of(Configuration from) {
        return rpcHost(from).then(host -> of(from, host));
    }

    private static Outcome<MasterSettings> of(Configuration from, String rpcHost) {
        try {
            MasterConfig.Builder config = MasterConfig.builder();
            addresses(from, rpcHost, config);
            objects(from, config);
            limits(from, config);
            boolean metadata = from.require(MasterFlags.METADATA_SERVER);
            return Outcome.ok(
                    new MasterSettings(
                            config.build(),
                            from.find(MasterFlags.METADATA_HOST).orElse(rpcHost),
                            metadata ? from.require(MasterFlags.METADATA_PORT) : NO_METADATA));
        } catch (IllegalArgumentException e) {
            return Outcome.failed(StoreCode.INVALID_PARAMS, String.valueOf(e.getMessage()));
        }
    }

    private static void addresses(Configuration from, String rpcHost, MasterConfig.Builder config) {
        config.rpc(rpcHost, from.require(MasterFlags.RPC_PORT))
                .rpcIdleTimeout(from.require(MasterFlags.RPC_IDLE_TIMEOUT))
                .clusterId(from.require(MasterFlags.CLUSTER_ID))
                .serviceVersion(from.require(MasterFlags.SERVICE_VERSION))
                .reportMetrics(from.require(MasterFlags.METRIC_REPORTING))
                .kvEvents(events(from));
        int http = from.require(MasterFlags.HTTP_PORT);
        if (http == ValueType.Port.OFF) {
            config.httpOff();
        } else {
            config.http(from.require(MasterFlags.HTTP_HOST), http);
        }
    }

    private static void objects(Configuration from, MasterConfig.Builder config) {
        config.defaultLeaseTtl(from.require(MasterFlags.LEASE_TTL))
                .softPinTtl(
                        from.require(MasterFlags.SOFT_PIN_TTL),
                        from.require(MasterFlags.MAX_SOFT_PIN_TTL))
                .allowEvictSoftPinned(from.require(MasterFlags.EVICT_SOFT_PINNED))
                .eviction(
                        from.require(MasterFlags.EVICTION_WATERMARK),
                        from.require(MasterFlags.EVICTION_RATIO))
                .clientTtl(from.require(MasterFlags.CLIENT_TTL))
                .clientWipe(from.require(MasterFlags.CLIENT_WIPE))
                .allReplicas(from.require(MasterFlags.ALL_REPLICAS))
                .putTimeouts(
                        from.require(MasterFlags.PUT_DISCARD_TIMEOUT),
                        from.require(MasterFlags.PUT_RELEASE_TIMEOUT))
                .evictionPolicy(policy(from.require(MasterFlags.EVICTION_POLICY)))
                .restartGrace(from.require(MasterFlags.RESTART_GRACE))
                .allocationStrategy(strategy(from.require(MasterFlags.ALLOCATION_STRATEGY)));
    }

    /** A policy by its name in the settings; IllegalArgumentException when there is none. */
    public static EvictionPolicy policy(String word) {
        return EvictionPolicy.valueOf(word.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    private static AllocationStrategy strategy(String word) {
        return AllocationStrategy.valueOf(word.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    private static void limits(Configuration from, MasterConfig.Builder config) {
        config.enableMultiTenants(from.require(MasterFlags.MULTI_TENANTS))
                .tenantFile(from.find(MasterFlags.TENANT_FILE))
                .diskTier(
                        from.require(MasterFlags.DISK_EVICTION),
                        from.require(MasterFlags.DISK_QUOTA))
                .tasks(
                        new TaskLimits(
                                Math.toIntExact(from.require(MasterFlags.MAX_PENDING_TASKS)),
                                Math.toIntExact(from.require(MasterFlags.MAX_PROCESSING_TASKS)),
                                Math.toIntExact(from.require(MasterFlags.MAX_FINISHED_TASKS)),
                                from.require(MasterFlags.PENDING_TASK_TIMEOUT),
                                from.require(MasterFlags.PROCESSING_TASK_TIMEOUT),
                                Math.toIntExact(from.require(MasterFlags.MAX_RETRY_ATTEMPTS))))
                .maxMetadataBytes(from.require(MasterFlags.MAX_METADATA))
                .maxObjects(from.require(MasterFlags.MAX_OBJECTS))
                .limits(
                        Math.toIntExact(from.require(MasterFlags.MAX_CLIENTS)),
                        Math.toIntExact(from.require(MasterFlags.MAX_LEASES)));
    }

    private static Optional<KvEventsConfig> events(Configuration from) {
        if (!from.require(MasterFlags.KV_EVENTS)) {
            return Optional.empty();
        }
        long capacity = from.require(MasterFlags.KV_EVENTS_QUEUE);
        return Optional.of(
                new KvEventsConfig(
                        from.find(MasterFlags.KV_EVENTS_ENDPOINT)
                                .orElseThrow(
                                        () ->
                                                new IllegalArgumentException(
                                                        "enable-kv-events needs"
                                                                + " kv-events-bind-endpoint")),
                        from.find(MasterFlags.KV_EVENTS_BACKEND)
                                .orElse(from.require(MasterFlags.CLUSTER_ID)),
                        from.require(MasterFlags.KV_EVENTS_LEGACY),
                        from.require(MasterFlags.KV_EVENTS_KEY),
                        capacity == 0 ? KvEventsConfig.LARGEST_QUEUE : (int) capacity));
    }

    private static Outcome<String> rpcHost(Configuration from) {
        Optional<String> name = from.find(MasterFlags.RPC_INTERFACE);
        if (name.isEmpty()) {
            return Outcome.ok(from.require(MasterFlags.RPC_HOST));
        }
        try {
            NetworkInterface link = NetworkInterface.getByName(name.get());
            return link == null
                    ? noAddress(name.get(), "there is no such interface")
                    : link.inetAddresses()
                            .filter(Inet4Address.class::isInstance)
                            .map(InetAddress::getHostAddress)
                            .findFirst()
                            .<Outcome<String>>map(Outcome::ok)
                            .orElseGet(() -> noAddress(name.get(), "it has no IPv4 address"));
        } catch (SocketException e) {
            return noAddress(name.get(), e.toString());
        }
    }

    private static Outcome<String> noAddress(String name, String why) {
        return Outcome.failed(StoreCode.INVALID_PARAMS, "rpc-interface=" + name + ": " + why);
    }
}
