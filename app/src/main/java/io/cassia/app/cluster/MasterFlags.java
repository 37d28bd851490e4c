package io.cassia.app.cluster;

import static java.time.temporal.ChronoUnit.MILLIS;
import static java.time.temporal.ChronoUnit.SECONDS;

import io.cassia.base.config.Setting;
import io.cassia.base.config.Setting.Support;
import io.cassia.base.config.SettingTable;
import io.cassia.base.config.ValueType;
import io.cassia.status.StoreCode;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * All settings of a master (spec mooncake-store 13.1), in the order of the page that is made of
 * them. Immutable. Upstream's names are names or aliases here; where a default differs, the meaning
 * says so.
 */
public final class MasterFlags {
    /** What the variables of a master begin with. */
    public static final String VARIABLE_PREFIX = "CASSIA_MASTER_";

    private static final Duration DAY = Duration.ofDays(1);
    private static final ValueType.Flag FLAG = new ValueType.Flag();
    private static final ValueType.Ratio SHARE = new ValueType.Ratio(0, 1);
    private static final ValueType.Text ANY = text("[^\\p{Cntrl}]{1,4096}", "any text");
    private static final ValueType.Text HOST =
            text("[A-Za-z0-9:.%_-]{1,253}", "a host name or address, IPv6 without brackets");
    private static final ValueType.Size BYTES = new ValueType.Size(0, Long.MAX_VALUE);
    private static final ValueType.Whole COUNT = new ValueType.Whole(0, Integer.MAX_VALUE);

    public static final Setting<Integer> RPC_PORT =
            full(
                    "rpc-port",
                    List.of("port"),
                    new ValueType.Port(false),
                    "50051",
                    "Port of the RPC server; 0 takes a free one.");
    public static final Setting<String> RPC_HOST =
            full(
                    "rpc-host",
                    List.of("rpc-address"),
                    HOST,
                    "127.0.0.1",
                    "Address that RPC and metadata listen on. Mooncake: 0.0.0.0; here nothing is"
                            + " reachable from outside before it is told to be.");
    public static final Setting<String> RPC_INTERFACE =
            full(
                    "rpc-interface",
                    List.of(),
                    text("[A-Za-z0-9:._-]{1,64}", "the name of a network interface"),
                    "",
                    "Interface whose first IPv4 address is listened on, instead of rpc-host; the"
                            + " start fails when it has none.");
    public static final Setting<Duration> RPC_IDLE_TIMEOUT =
            full(
                    "rpc-conn-timeout-seconds",
                    List.of("rpc-idle-timeout"),
                    span(SECONDS, Duration.ZERO, DAY),
                    "0",
                    "RPC connections that send nothing for so long are closed; 0: never.");
    public static final Setting<Integer> HTTP_PORT =
            full(
                    "http-port",
                    List.of("metrics-port"),
                    new ValueType.Port(true),
                    "9003",
                    "Port of the admin and metrics server; 'off' starts none.");
    public static final Setting<String> HTTP_HOST =
            full(
                    "http-host",
                    List.of("metrics-host"),
                    HOST,
                    "127.0.0.1",
                    "Address that the admin server listens on. Mooncake: 0.0.0.0.");
    public static final Setting<Boolean> METRIC_REPORTING =
            full(
                    "enable-metric-reporting",
                    List.of(),
                    FLAG,
                    "true",
                    "Log one line with the pool's figures every 10 s.");
    public static final Setting<Integer> METADATA_PORT =
            full(
                    "metadata-port",
                    List.of("http-metadata-server-port"),
                    new ValueType.Port(true),
                    "8080",
                    "Port of the Transfer Engine metadata server; 'off' starts none.");
    public static final Setting<String> METADATA_HOST =
            full(
                    "metadata-host",
                    List.of("http-metadata-server-host"),
                    HOST,
                    "",
                    "Address that the metadata server listens on; none: that of RPC.");
    public static final Setting<Boolean> METADATA_SERVER =
            full(
                    "enable-http-metadata-server",
                    List.of(),
                    FLAG,
                    "true",
                    "Whether the metadata server runs. Mooncake: false.");
    public static final Setting<Duration> LEASE_TTL =
            full(
                    "default-kv-lease-ttl",
                    List.of(),
                    span(MILLIS, Duration.ofMillis(1), DAY),
                    "10s",
                    "How long a read protects an object.");
    public static final Setting<Duration> SOFT_PIN_TTL =
            full(
                    "default-kv-soft-pin-ttl",
                    List.of(),
                    span(MILLIS, Duration.ZERO, DAY.multipliedBy(365)),
                    "30m",
                    "Soft pin of a put that asks for one without a time.");
    public static final Setting<Duration> MAX_SOFT_PIN_TTL =
            full(
                    "max-kv-soft-pin-ttl",
                    List.of(),
                    span(MILLIS, Duration.ZERO, DAY.multipliedBy(365)),
                    "24h",
                    "Longest soft pin that a put may ask for.");
    public static final Setting<Boolean> EVICT_SOFT_PINNED =
            full(
                    "allow-evict-soft-pinned-objects",
                    List.of(),
                    FLAG,
                    "true",
                    "Whether soft-pinned objects may go when nothing else is left.");
    public static final Setting<Double> EVICTION_WATERMARK =
            full(
                    "eviction-high-watermark-ratio",
                    List.of(),
                    SHARE,
                    "1",
                    "Share of used memory from which objects are evicted ahead of need; 1 evicts"
                            + " only on demand. Mooncake: 0.9, see ADR 7.");
    public static final Setting<Double> EVICTION_RATIO =
            full(
                    "eviction-ratio",
                    List.of(),
                    SHARE,
                    "0.05",
                    "Share of the memory that one round frees.");
    public static final Setting<Duration> CLIENT_TTL =
            full(
                    "client-ttl",
                    List.of("client-live-ttl-sec"),
                    span(SECONDS, Duration.ofMillis(1), DAY),
                    "10s",
                    "Silence after which a node counts as dead.");
    public static final Setting<Duration> CLIENT_WIPE =
            full(
                    "client-wipe-timeout",
                    List.of(),
                    span(SECONDS, Duration.ZERO, DAY),
                    "0",
                    "Silence after which the objects of a dead node are given up; 0: three times"
                            + " client-ttl. Mooncake gives them up at once.");
    public static final Setting<Boolean> ALL_REPLICAS =
            full(
                    "require-all-replicas",
                    List.of(),
                    FLAG,
                    "false",
                    "Whether a put fails that cannot have all the replicas it asks for; if not, one"
                            + " is enough.");
    public static final Setting<Duration> PUT_DISCARD_TIMEOUT =
            full(
                    "put-start-discard-timeout",
                    List.of("put-start-discard-timeout-sec"),
                    span(SECONDS, Duration.ofMillis(1), DAY),
                    "30s",
                    "Age from which an unfinished put may be taken over.");
    public static final Setting<Duration> PUT_RELEASE_TIMEOUT =
            full(
                    "put-start-release-timeout",
                    List.of("put-start-release-timeout-sec"),
                    span(SECONDS, Duration.ofMillis(1), DAY),
                    "10m",
                    "Age from which the space of an unfinished put is used again.");
    public static final Setting<String> ALLOCATION_STRATEGY =
            full(
                    "allocation-strategy",
                    List.of(),
                    new ValueType.Word(
                            List.of(
                                    "random",
                                    "free-ratio-first",
                                    "ssd-free-ratio-first",
                                    "local-first")),
                    "random",
                    "Which segment is tried first; ssd-free-ratio-first falls back to"
                            + " free-ratio-first.");
    public static final Setting<String> EVICTION_POLICY =
            full(
                    "eviction-policy",
                    List.of(),
                    new ValueType.Word(List.of("lru", "two-queues")),
                    "lru",
                    "Which objects are evicted first: the least recently used, or (2Q) beyond half of"
                            + " the memory those that nobody has read yet. The second keeps out"
                            + " floods of objects that are put once and never read, and pays where"
                            + " the memory is small for what is read again.");
    public static final Setting<Duration> RESTART_GRACE =
            full(
                    "restart-grace",
                    List.of(),
                    span(SECONDS, Duration.ZERO, DAY),
                    "0s",
                    "How long after its start the master gives out no space, so that reads and"
                            + " writes by leave of the master before it are over. Cassia's clients"
                            + " compare checksums and do not need it; with clients that do not, at"
                            + " least the lease time.");
    public static final Setting<String> CLUSTER_ID =
            full("cluster-id", List.of(), ANY, "mooncake_cluster", "Name of the cluster.");
    public static final Setting<Boolean> MULTI_TENANTS =
            full(
                    "enable-multi-tenants",
                    List.of(),
                    FLAG,
                    "false",
                    "Whether tenants have key spaces and quotas of their own; if not, all names"
                            + " mean the default tenant.");
    public static final Setting<String> TENANT_CONNECTOR =
            full(
                    "tenant-quota-connector-type",
                    List.of(),
                    new ValueType.Word(List.of("file")),
                    "file",
                    "Where tenants' quotas are kept.");
    public static final Setting<Path> TENANT_FILE =
            full(
                    "tenant-quota-connector-uri",
                    List.of(),
                    new ValueType.File(),
                    "",
                    "The file of the quotas, which must exist; none: they are kept in memory.");
    public static final Setting<Boolean> DISK_EVICTION =
            full(
                    "enable-disk-eviction",
                    List.of(),
                    FLAG,
                    "true",
                    "Told to clients with a shared file system tier.");
    public static final Setting<Long> DISK_QUOTA =
            full(
                    "quota-bytes",
                    List.of(),
                    BYTES,
                    "0",
                    "Told to clients with a shared file system tier; 0: 90 % of it.");
    public static final Setting<Long> MAX_FINISHED_TASKS =
            full(
                    "max-total-finished-tasks",
                    List.of(),
                    COUNT,
                    "10000",
                    "Tasks that are remembered when they have ended.");
    public static final Setting<Long> MAX_PENDING_TASKS =
            full(
                    "max-total-pending-tasks",
                    List.of(),
                    COUNT,
                    "10000",
                    "Tasks that wait to be fetched; more are refused.");
    public static final Setting<Long> MAX_PROCESSING_TASKS =
            full(
                    "max-total-processing-tasks",
                    List.of(),
                    COUNT,
                    "10000",
                    "Tasks that clients work on; fetching gives no more.");
    public static final Setting<Duration> PENDING_TASK_TIMEOUT =
            full(
                    "pending-task-timeout-sec",
                    List.of("pending-task-timeout"),
                    span(SECONDS, Duration.ZERO, DAY),
                    "300s",
                    "Age at which a task that nobody fetched has failed; 0: never.");
    public static final Setting<Duration> PROCESSING_TASK_TIMEOUT =
            full(
                    "processing-task-timeout-sec",
                    List.of("processing-task-timeout"),
                    span(SECONDS, Duration.ZERO, DAY),
                    "300s",
                    "Time after which a fetched task without an end has failed; 0: never.");
    public static final Setting<Long> MAX_RETRY_ATTEMPTS =
            full(
                    "max-retry-attempts",
                    List.of(),
                    new ValueType.Whole(0, 1_000_000),
                    "10",
                    "Told to clients: how often they retry a task that found no space.");
    public static final Setting<Boolean> KV_EVENTS =
            full(
                    "enable-kv-events",
                    List.of(),
                    FLAG,
                    "false",
                    "Publish events of stored and removed objects (ZeroMQ PUB, MessagePack).");
    public static final Setting<String> KV_EVENTS_ENDPOINT =
            full(
                    "kv-events-bind-endpoint",
                    List.of(),
                    text(
                            "tcp://[^\\s]{1,253}:[0-9]{1,5}|tcp://[^\\s]{1,253}:\\*",
                            "tcp://HOST:PORT"),
                    "",
                    "Where events are published.");
    public static final Setting<String> KV_EVENTS_BACKEND =
            full(
                    "kv-events-backend-id",
                    List.of(),
                    ANY,
                    "",
                    "Name of this store in its events; none: cluster-id.");
    public static final Setting<Boolean> KV_EVENTS_LEGACY =
            full(
                    "kv-events-emit-legacy-compat",
                    List.of(),
                    FLAG,
                    "true",
                    "Events carry the older names of fields too.");
    public static final Setting<Boolean> KV_EVENTS_KEY =
            full(
                    "kv-events-emit-object-key",
                    List.of(),
                    FLAG,
                    "true",
                    "Events carry the key; without it only keys that are numbers are published.");
    public static final Setting<Long> KV_EVENTS_QUEUE =
            full(
                    "kv-events-queue-capacity",
                    List.of(),
                    COUNT,
                    "65536",
                    "Events that wait to be published; the oldest is dropped for more. 0 stands"
                            + " for 1,000,000, because every queue has an end.");
    public static final Setting<String> SERVICE_VERSION =
            full(
                    "service-version",
                    List.of(),
                    ANY,
                    "2.0.0",
                    "What ServiceReady answers; clients of Mooncake demand their own version.");
    public static final Setting<Long> MAX_METADATA =
            full(
                    "max-metadata",
                    List.of(),
                    BYTES,
                    "0",
                    "Heap that objects may cost, beyond which the least recently used are evicted;"
                            + " 0: 60 % of it.");
    public static final Setting<Long> MAX_OBJECTS =
            full(
                    "max-objects",
                    List.of(),
                    new ValueType.Whole(0, Long.MAX_VALUE),
                    "0",
                    "Objects at a time, beyond which the least recently used are evicted; 0: no"
                            + " limit.");
    public static final Setting<Long> MAX_CLIENTS =
            full(
                    "max-clients",
                    List.of(),
                    new ValueType.Whole(1, 16_777_216),
                    "131072",
                    "Clients with memory at a time.");
    public static final Setting<Long> MAX_LEASES =
            full(
                    "max-leases",
                    List.of(),
                    new ValueType.Whole(1, 100_000_000),
                    "1000000",
                    "Leases of Cassia clients at a time.");

    private static final String NO_HA = "there is one master; it has no standby";
    private static final String NO_SSD = "this master has no SSD tier";
    private static final String NO_NOF = "this master has no NVMe-oF segments";
    private static final String NO_DYNAMIC = "this master does not replicate by heat";
    private static final String NO_SNAPSHOT = "this master takes no snapshots";
    private static final String NO_CXL = "this master has no CXL memory";

    /** All of them. */
    public static final SettingTable TABLE =
            new SettingTable(
                    VARIABLE_PREFIX,
                    StoreCode.INVALID_PARAMS,
                    List.of(
                            RPC_PORT,
                            RPC_HOST,
                            RPC_INTERFACE,
                            RPC_IDLE_TIMEOUT,
                            HTTP_PORT,
                            HTTP_HOST,
                            METRIC_REPORTING,
                            METADATA_PORT,
                            METADATA_HOST,
                            METADATA_SERVER,
                            LEASE_TTL,
                            SOFT_PIN_TTL,
                            MAX_SOFT_PIN_TTL,
                            EVICT_SOFT_PINNED,
                            EVICTION_WATERMARK,
                            EVICTION_RATIO,
                            CLIENT_TTL,
                            CLIENT_WIPE,
                            ALL_REPLICAS,
                            PUT_DISCARD_TIMEOUT,
                            PUT_RELEASE_TIMEOUT,
                            ALLOCATION_STRATEGY,
                            EVICTION_POLICY,
                            RESTART_GRACE,
                            CLUSTER_ID,
                            MULTI_TENANTS,
                            TENANT_CONNECTOR,
                            TENANT_FILE,
                            DISK_EVICTION,
                            DISK_QUOTA,
                            MAX_FINISHED_TASKS,
                            MAX_PENDING_TASKS,
                            MAX_PROCESSING_TASKS,
                            PENDING_TASK_TIMEOUT,
                            PROCESSING_TASK_TIMEOUT,
                            MAX_RETRY_ATTEMPTS,
                            KV_EVENTS,
                            KV_EVENTS_ENDPOINT,
                            KV_EVENTS_BACKEND,
                            KV_EVENTS_LEGACY,
                            KV_EVENTS_KEY,
                            KV_EVENTS_QUEUE,
                            SERVICE_VERSION,
                            MAX_METADATA,
                            MAX_OBJECTS,
                            MAX_CLIENTS,
                            MAX_LEASES,
                            absent(
                                    "memory-allocator",
                                    text("offset|cachelib", "offset or cachelib"),
                                    "offset",
                                    "there is one allocator, offset"),
                            absent(
                                    "root-fs-dir",
                                    ANY,
                                    "",
                                    "this master has no shared file system tier"),
                            absent("enable-ha", FLAG, "false", NO_HA),
                            absent("enable-oplog", FLAG, "false", NO_HA),
                            absent("enable-offload", FLAG, "false", NO_SSD),
                            absent(
                                    "dynamic-replication-mode",
                                    new ValueType.Word(List.of("off", "observe", "enforce")),
                                    "off",
                                    NO_DYNAMIC),
                            absent("enable-snapshot", FLAG, "false", NO_SNAPSHOT),
                            absent("enable-snapshot-restore", FLAG, "false", NO_SNAPSHOT),
                            absent("enable-cxl", FLAG, "false", NO_CXL),
                            absent(
                                    "enable-metadata-cleanup-on-timeout",
                                    FLAG,
                                    "false",
                                    "entries of engines are left to the metadata store"),
                            inert("rpc-thread-num", COUNT, "0", "each connection has a thread"),
                            inert("max-threads", COUNT, "16", "each connection has a thread"),
                            inert("rpc-enable-tcp-no-delay", FLAG, "true", "it is always so"),
                            inert("log-dir", ANY, "", "the log goes to standard error"),
                            inert(
                                    "global-file-segment-size",
                                    BYTES,
                                    "9223372036854775807",
                                    "this master has no shared file system tier"),
                            inert(
                                    "kv-events-model-name",
                                    ANY,
                                    "",
                                    "upstream's events no longer carry it"),
                            inert(
                                    "kv-events-tenant-id",
                                    ANY,
                                    "",
                                    "events carry the object's own tenant"),
                            inert(
                                    "kv-events-additional-salt",
                                    ANY,
                                    "",
                                    "upstream's events no longer carry it"),
                            inert(
                                    "kv-events-lora-name",
                                    ANY,
                                    "",
                                    "upstream's events no longer carry it"),
                            inert(
                                    "kv-events-block-size",
                                    COUNT,
                                    "0",
                                    "upstream's events no longer carry it"),
                            inert(
                                    "kv-events-dp-rank",
                                    COUNT,
                                    "0",
                                    "upstream's events no longer carry it"),
                            inert("ha-backend-type", ANY, "etcd", NO_HA),
                            inert("ha-backend-connstring", ANY, "", NO_HA),
                            inert("etcd-endpoints", ANY, "", NO_HA),
                            inert("pod-name", ANY, "", NO_HA),
                            inert("pod-namespace", ANY, "", NO_HA),
                            inert("oplog-poll-interval-ms", COUNT, "1000", NO_HA),
                            inert("oplog-batch-max-entries", COUNT, "1024", NO_HA),
                            inert("batch-oplog-retry-timeout-sec", COUNT, "180", NO_HA),
                            inert("offload-on-evict", FLAG, "false", NO_SSD),
                            inert("offload-force-evict", FLAG, "false", NO_SSD),
                            inert("offloading-queue-limit", COUNT, "50000", NO_SSD),
                            inert("offload-cap-ratio", SHARE, "0.5", NO_SSD),
                            inert("promotion-on-hit", FLAG, "false", NO_SSD),
                            inert("promotion-admission-threshold", COUNT, "2", NO_SSD),
                            inert("promotion-queue-limit", COUNT, "50000", NO_SSD),
                            inert("promotion-max-per-heartbeat", COUNT, "1", NO_SSD),
                            inert(
                                    "dynamic-replication-heat-window-seconds",
                                    COUNT,
                                    "10",
                                    NO_DYNAMIC),
                            inert(
                                    "dynamic-replication-admission-qps-threshold",
                                    new ValueType.Ratio(0, 1e9),
                                    "0.8",
                                    NO_DYNAMIC),
                            inert(
                                    "dynamic-replication-max-memory-replicas",
                                    COUNT,
                                    "2",
                                    NO_DYNAMIC),
                            inert("nof-eviction-ratio", SHARE, "0.05", NO_NOF),
                            inert("nof-eviction-high-watermark-ratio", SHARE, "0.9", NO_NOF),
                            inert("nof-heartbeat-interval-sec", COUNT, "10", NO_NOF),
                            inert("nof-heartbeat-probe-timeout-ms", COUNT, "1000", NO_NOF),
                            inert("nof-heartbeat-failures-threshold", COUNT, "3", NO_NOF),
                            inert("snapshot-interval-seconds", COUNT, "600", NO_SNAPSHOT),
                            inert("snapshot-child-timeout-seconds", COUNT, "300", NO_SNAPSHOT),
                            inert("snapshot-retention-count", COUNT, "2", NO_SNAPSHOT),
                            inert("snapshot-backup-dir", ANY, "", NO_SNAPSHOT),
                            inert("snapshot-object-store-type", ANY, "", NO_SNAPSHOT),
                            inert("snapshot-payload-store-type", ANY, "", NO_SNAPSHOT),
                            inert("snapshot-payload-backend-type", ANY, "", NO_SNAPSHOT),
                            inert("snapshot-catalog-store-type", ANY, "", NO_SNAPSHOT),
                            inert("snapshot-catalog-backend-type", ANY, "", NO_SNAPSHOT),
                            inert("snapshot-catalog-store-connstring", ANY, "", NO_SNAPSHOT),
                            inert("snapshot-catalog-backend-connstring", ANY, "", NO_SNAPSHOT),
                            inert("cxl-path", ANY, "/dev/dax0.0", NO_CXL),
                            inert("cxl-size", BYTES, "8GiB", NO_CXL)));

    private MasterFlags() {}

    private static <T> Setting<T> full(
            String name, List<String> aliases, ValueType<T> type, String initial, String meaning) {
        return new Setting<>(name, aliases, variable(name), type, initial, Support.FULL, meaning);
    }

    private static <T> Setting<T> inert(
            String name, ValueType<T> type, String initial, String why) {
        return new Setting<>(
                name, List.of(), variable(name), type, initial, new Support.Inert(why), "");
    }

    private static <T> Setting<T> absent(
            String name, ValueType<T> type, String initial, String why) {
        return new Setting<>(
                name, List.of(), variable(name), type, initial, new Support.Absent(why), "");
    }

    private static String variable(String name) {
        return VARIABLE_PREFIX + name.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    private static ValueType.Text text(String form, String description) {
        return new ValueType.Text(Pattern.compile(form), description, false);
    }

    private static ValueType.Span span(ChronoUnit plain, Duration min, Duration max) {
        return new ValueType.Span(plain, min, max);
    }
}
