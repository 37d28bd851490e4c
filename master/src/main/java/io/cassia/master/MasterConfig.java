package io.cassia.master;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.master.core.AllocationStrategy;
import io.cassia.master.core.EvictionPolicy;
import io.cassia.master.events.KvEventsConfig;
import io.cassia.rpc.mooncake.MasterMethods;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * How a master is set up. Immutable. Names and defaults are those of upstream's flags (spec
 * mooncake-store 13.1) where there is one.
 *
 * @param rpcHost address that the RPC server listens on
 * @param rpcPort 0 takes a free port
 * @param httpHost address that the admin server listens on
 * @param httpPort 0 takes a free port, {@link #HTTP_OFF} runs no admin server
 * @param defaultLeaseTtl lease of a read, an exist or an acquire, and the longest one
 * @param defaultSoftPinTtl soft pin of a put that asks for one without a time
 * @param maxSoftPinTtl longest soft pin that a put may ask for
 * @param allowEvictSoftPinned whether soft-pinned objects may go when nothing else is left
 * @param clientTtl a client that is silent for longer is dead, and its segments with it
 * @param putDiscardTimeout after it another writer may take over the key of an unfinished put
 * @param putReleaseTimeout after it the space of an unfinished put is free; longer than the above
 * @param evictionHighWatermarkRatio used share of the capacity above which objects are evicted. The
 *     default 1.0 evicts only when a put needs the room; upstream's 0.90 keeps a tenth of the
 *     memory empty, which its puts need and these do not
 * @param evictionRatio share of the capacity that is freed when the watermark was passed
 * @param evictionPolicy which objects an eviction takes first
 * @param restartGrace how long after its start the master gives out no space
 * @param allocationStrategy in which order segments are tried
 * @param enableMultiTenants whether tenants have key spaces of their own; if not, all tenant names
 *     mean the default tenant, as upstream
 * @param clusterId name of the cluster
 * @param rootFsDir directory of the shared file system tier; must be empty, the tier is not there
 * @param serviceVersion what ServiceReady answers; clients of Mooncake demand their own version
 * @param maxMetadataBytes heap bytes that objects may cost; 0 means 60 % of the heap
 * @param maxClients clients at one time
 * @param maxLeases counted leases at one time
 * @param maxObjects objects at one time, beyond which some are evicted; 0: no limit
 * @param rpcIdleTimeout connections that send nothing for so long are closed; zero: never
 * @param reportMetrics whether the pool's figures are logged every 10 s
 * @param tenantFile where tenants' quotas are kept; none: in memory
 * @param diskEviction told to clients with a shared file system tier
 * @param diskQuotaBytes told to them; 0: 90 % of the file system
 * @param tasks limits of copy and move tasks
 * @param clientWipe silence after which the objects of a dead client are given up; zero: three
 *     times {@code clientTtl}
 * @param allReplicas whether a put fails that cannot have all replicas it asks for
 * @param kvEvents how events are published; none: they are not
 */
public record MasterConfig(
        String rpcHost,
        int rpcPort,
        String httpHost,
        int httpPort,
        Duration defaultLeaseTtl,
        Duration defaultSoftPinTtl,
        Duration maxSoftPinTtl,
        boolean allowEvictSoftPinned,
        Duration clientTtl,
        Duration putDiscardTimeout,
        Duration putReleaseTimeout,
        double evictionHighWatermarkRatio,
        double evictionRatio,
        EvictionPolicy evictionPolicy,
        Duration restartGrace,
        AllocationStrategy allocationStrategy,
        boolean enableMultiTenants,
        String clusterId,
        String rootFsDir,
        String serviceVersion,
        long maxMetadataBytes,
        int maxClients,
        int maxLeases,
        long maxObjects,
        Duration rpcIdleTimeout,
        boolean reportMetrics,
        Optional<Path> tenantFile,
        boolean diskEviction,
        long diskQuotaBytes,
        TaskLimits tasks,
        Duration clientWipe,
        boolean allReplicas,
        Optional<KvEventsConfig> kvEvents) {
    /** As {@code httpPort}: no admin server. */
    public static final int HTTP_OFF = -1;

    /** All defaults. */
    public static final MasterConfig DEFAULT = new Builder().build();

    public MasterConfig {
        port(rpcPort, 0, "rpc port");
        port(httpPort, HTTP_OFF, "http port");
        positive(defaultLeaseTtl, "lease ttl");
        positive(clientTtl, "client ttl");
        positive(putDiscardTimeout, "put discard timeout");
        if (putReleaseTimeout.compareTo(putDiscardTimeout) <= 0) {
            throw new IllegalArgumentException(
                    "the put release timeout ("
                            + putReleaseTimeout
                            + ") must be longer than the put discard timeout ("
                            + putDiscardTimeout
                            + ")");
        }
        if (defaultSoftPinTtl.isNegative() || defaultSoftPinTtl.compareTo(maxSoftPinTtl) > 0) {
            throw new IllegalArgumentException("the soft pin ttl exceeds its maximum");
        }
        if (restartGrace.isNegative()) {
            throw new IllegalArgumentException(
                    "the restart grace must not be negative, but is " + restartGrace);
        }
        if (!(evictionHighWatermarkRatio > 0 && evictionHighWatermarkRatio <= 1)) {
            throw new IllegalArgumentException(
                    "the eviction watermark must be above 0 and at most 1, not "
                            + evictionHighWatermarkRatio);
        }
        if (!(evictionRatio >= 0 && evictionRatio <= evictionHighWatermarkRatio)) {
            throw new IllegalArgumentException(
                    "the eviction ratio must be 0 to the watermark, not " + evictionRatio);
        }
        if (!clientWipe.isZero() && clientWipe.compareTo(clientTtl) < 0) {
            throw new IllegalArgumentException(
                    "the client wipe time ("
                            + clientWipe
                            + ") must not be shorter than the client ttl ("
                            + clientTtl
                            + ")");
        }
        if (rpcIdleTimeout.isNegative() || diskQuotaBytes < 0) {
            throw new IllegalArgumentException("idle time-out and disk quota cannot be negative");
        }
        if (maxMetadataBytes < 0 || maxObjects < 0 || maxClients < 1 || maxLeases < 1) {
            throw new IllegalArgumentException("limits must be positive");
        }
    }

    private static void port(int port, int lowest, String name) {
        if (port < lowest || port > 65535) {
            throw new IllegalArgumentException(name + " " + port + " is no port");
        }
    }

    private static void positive(Duration duration, String name) {
        if (!duration.isPositive()) {
            throw new IllegalArgumentException(name + " must be positive, not " + duration);
        }
    }

    /** A builder with the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** A builder with the values of this. */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Confined to one thread. What is not set has its default. */
    public static final class Builder {
        private String rpcHost = "0.0.0.0";
        private int rpcPort = 50051;
        private String httpHost = "0.0.0.0";
        private int httpPort = 9003;
        private Duration defaultLeaseTtl = Duration.ofSeconds(10);
        private Duration defaultSoftPinTtl = Duration.ofMinutes(30);
        private Duration maxSoftPinTtl = Duration.ofDays(1);
        private boolean allowEvictSoftPinned = true;
        private Duration clientTtl = Duration.ofSeconds(10);
        private Duration putDiscardTimeout = Duration.ofSeconds(30);
        private Duration putReleaseTimeout = Duration.ofMinutes(10);
        private double evictionHighWatermarkRatio = 1.0;
        private double evictionRatio = 0.05;
        private EvictionPolicy evictionPolicy = EvictionPolicy.LRU;
        private Duration restartGrace = Duration.ZERO;
        private AllocationStrategy allocationStrategy = AllocationStrategy.RANDOM;
        private boolean enableMultiTenants;
        private String clusterId = "mooncake_cluster";
        private String rootFsDir = "";
        private String serviceVersion = MasterMethods.RELEASE.serviceVersion();
        private long maxMetadataBytes;
        private int maxClients = 128 * 1024;
        private int maxLeases = 1_000_000;
        private long maxObjects;
        private Duration rpcIdleTimeout = Duration.ZERO;
        private boolean reportMetrics;
        private Optional<Path> tenantFile = Optional.empty();
        private boolean diskEviction = true;
        private long diskQuotaBytes;
        private TaskLimits tasks = TaskLimits.DEFAULT;
        private Duration clientWipe = Duration.ZERO;
        private boolean allReplicas;
        private Optional<KvEventsConfig> kvEvents = Optional.empty();

        private Builder() {}

        private Builder(MasterConfig config) {
            rpcHost = config.rpcHost;
            rpcPort = config.rpcPort;
            httpHost = config.httpHost;
            httpPort = config.httpPort;
            defaultLeaseTtl = config.defaultLeaseTtl;
            defaultSoftPinTtl = config.defaultSoftPinTtl;
            maxSoftPinTtl = config.maxSoftPinTtl;
            allowEvictSoftPinned = config.allowEvictSoftPinned;
            clientTtl = config.clientTtl;
            putDiscardTimeout = config.putDiscardTimeout;
            putReleaseTimeout = config.putReleaseTimeout;
            evictionHighWatermarkRatio = config.evictionHighWatermarkRatio;
            evictionRatio = config.evictionRatio;
            evictionPolicy = config.evictionPolicy;
            restartGrace = config.restartGrace;
            allocationStrategy = config.allocationStrategy;
            enableMultiTenants = config.enableMultiTenants;
            clusterId = config.clusterId;
            rootFsDir = config.rootFsDir;
            serviceVersion = config.serviceVersion;
            maxMetadataBytes = config.maxMetadataBytes;
            maxClients = config.maxClients;
            maxLeases = config.maxLeases;
            maxObjects = config.maxObjects;
            rpcIdleTimeout = config.rpcIdleTimeout;
            reportMetrics = config.reportMetrics;
            tenantFile = config.tenantFile;
            diskEviction = config.diskEviction;
            diskQuotaBytes = config.diskQuotaBytes;
            tasks = config.tasks;
            clientWipe = config.clientWipe;
            allReplicas = config.allReplicas;
            kvEvents = config.kvEvents;
        }

        @CanIgnoreReturnValue
        public Builder rpc(String host, int port) {
            rpcHost = host;
            rpcPort = port;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder http(String host, int port) {
            httpHost = host;
            httpPort = port;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder httpOff() {
            httpPort = HTTP_OFF;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder defaultLeaseTtl(Duration ttl) {
            defaultLeaseTtl = ttl;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder softPinTtl(Duration standard, Duration longest) {
            defaultSoftPinTtl = standard;
            maxSoftPinTtl = longest;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder allowEvictSoftPinned(boolean allow) {
            allowEvictSoftPinned = allow;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder clientTtl(Duration ttl) {
            clientTtl = ttl;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder putTimeouts(Duration discard, Duration release) {
            putDiscardTimeout = discard;
            putReleaseTimeout = release;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder eviction(double highWatermarkRatio, double ratio) {
            evictionHighWatermarkRatio = highWatermarkRatio;
            evictionRatio = ratio;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder evictionPolicy(EvictionPolicy policy) {
            evictionPolicy = policy;
            return this;
        }

        /** For clients that compare no checksums: see ADR 52. */
        @CanIgnoreReturnValue
        public Builder restartGrace(Duration grace) {
            restartGrace = grace;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder allocationStrategy(AllocationStrategy strategy) {
            allocationStrategy = strategy;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder enableMultiTenants(boolean enable) {
            enableMultiTenants = enable;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder clusterId(String id) {
            clusterId = id;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder rootFsDir(String directory) {
            rootFsDir = directory;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder serviceVersion(String version) {
            serviceVersion = version;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder maxMetadataBytes(long bytes) {
            maxMetadataBytes = bytes;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder limits(int clients, int leases) {
            maxClients = clients;
            maxLeases = leases;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder maxObjects(long objects) {
            maxObjects = objects;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder rpcIdleTimeout(Duration timeout) {
            rpcIdleTimeout = timeout;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder reportMetrics(boolean report) {
            reportMetrics = report;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder tenantFile(Optional<Path> file) {
            tenantFile = file;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder diskTier(boolean eviction, long quotaBytes) {
            diskEviction = eviction;
            diskQuotaBytes = quotaBytes;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder tasks(TaskLimits limits) {
            tasks = limits;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder clientWipe(Duration silence) {
            clientWipe = silence;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder allReplicas(boolean demand) {
            allReplicas = demand;
            return this;
        }

        @CanIgnoreReturnValue
        public Builder kvEvents(Optional<KvEventsConfig> events) {
            kvEvents = events;
            return this;
        }

        /** IllegalArgumentException says which value cannot be. */
        public MasterConfig build() {
            return new MasterConfig(
                    rpcHost,
                    rpcPort,
                    httpHost,
                    httpPort,
                    defaultLeaseTtl,
                    defaultSoftPinTtl,
                    maxSoftPinTtl,
                    allowEvictSoftPinned,
                    clientTtl,
                    putDiscardTimeout,
                    putReleaseTimeout,
                    evictionHighWatermarkRatio,
                    evictionRatio,
                    evictionPolicy,
                    restartGrace,
                    allocationStrategy,
                    enableMultiTenants,
                    clusterId,
                    rootFsDir,
                    serviceVersion,
                    maxMetadataBytes,
                    maxClients,
                    maxLeases,
                    maxObjects,
                    rpcIdleTimeout,
                    reportMetrics,
                    tenantFile,
                    diskEviction,
                    diskQuotaBytes,
                    tasks,
                    clientWipe,
                    allReplicas,
                    kvEvents);
        }
    }
}
