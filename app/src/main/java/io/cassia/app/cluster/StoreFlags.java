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
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * All settings of clients and of nodes, in the order of the pages that are made of them. Immutable.
 * What a Transfer Engine has by itself is set by its own variables.
 */
public final class StoreFlags {
    private static final String PREFIX = "CASSIA_";
    private static final Duration DAY = Duration.ofDays(1);
    private static final ValueType.Flag FLAG = new ValueType.Flag();
    private static final ValueType.File FILE = new ValueType.File();
    private static final ValueType.Text ANY = text("any text", false);
    private static final ValueType.Text SECRET = text("any text", true);

    public static final Setting<String> MASTER =
            row(
                    "master",
                    List.of("master-server-address"),
                    "CASSIA_MASTER",
                    ANY,
                    "127.0.0.1:50051",
                    "RPC address of the master, host:port.");
    public static final Setting<String> METADATA =
            row(
                    "metadata",
                    List.of("metadata-server"),
                    "CASSIA_METADATA",
                    ANY,
                    "",
                    "Transfer Engine metadata: http://host:port/metadata or P2PHANDSHAKE. None: port"
                            + " 8080 on the master's host.");
    public static final Setting<String> LOCAL_HOST =
            row(
                    "local-host",
                    List.of(),
                    "CASSIA_LOCAL_HOST",
                    ANY,
                    "127.0.0.1",
                    "Name under which nodes reach this process.");
    public static final Setting<String> TENANT =
            row(
                    "tenant",
                    List.of("tenant-id"),
                    "CASSIA_TENANT",
                    ANY,
                    "default",
                    "Namespace of the keys.");
    public static final Setting<Duration> TIMEOUT =
            row(
                    "timeout",
                    List.of(),
                    "CASSIA_TIMEOUT",
                    new ValueType.Span(SECONDS, Duration.ofMillis(1), DAY),
                    "30s",
                    "Limit of one operation, with all its round trips and transfers.");
    public static final Setting<Duration> RETRY_TIME =
            row(
                    "retry-time",
                    List.of(),
                    "CASSIA_RETRY_TIME",
                    new ValueType.Span(SECONDS, Duration.ZERO, DAY),
                    "3s",
                    "How long a question is asked again when the connection to the master breaks; 0:"
                            + " not at all. What changes something is never sent twice.");
    public static final Setting<Duration> CONNECT_TIMEOUT =
            row(
                    "connect-timeout",
                    List.of(),
                    "MC_RPC_CONNECT_TIMEOUT_MS",
                    new ValueType.Span(MILLIS, Duration.ofMillis(1), DAY),
                    "30s",
                    "For one attempt to connect to the master.");
    public static final Setting<Long> LOCAL_BUFFER =
            row(
                    "local-buffer",
                    List.of("local-buffer-size"),
                    "CASSIA_LOCAL_BUFFER",
                    new ValueType.Size(64 << 10, 1L << 40),
                    "64MiB",
                    "Memory for bytes that cannot go straight to or from the caller's: heap arrays,"
                            + " edges of ranges, streams.");
    public static final Setting<Long> HOT_CACHE =
            row(
                    "hot-cache",
                    List.of("local-hot-cache-size"),
                    "MC_STORE_LOCAL_HOT_CACHE_SIZE",
                    new ValueType.Size(0, 1L << 40),
                    "0",
                    "Memory for copies of objects of other hosts that are read again and again; 0:"
                            + " none. A copy serves the version that the master names, and no"
                            + " other.");
    public static final Setting<Long> HOT_BLOCK =
            row(
                    "hot-block",
                    List.of("local-hot-block-size"),
                    "MC_STORE_LOCAL_HOT_BLOCK_SIZE",
                    new ValueType.Size(1, 1L << 40),
                    "16MiB",
                    "Larger objects are not kept in the hot cache.");
    public static final Setting<Boolean> CRC64 =
            row(
                    "crc64",
                    List.of("store-checksum"),
                    "MOONCAKE_STORE_CHECKSUM",
                    FLAG,
                    "off",
                    "Whether puts also carry Mooncake's checksum, for its clients that verify it."
                            + " Cassia's own checksums are always there.");
    public static final Setting<Boolean> RESERVE_AHEAD =
            row(
                    "reserve-ahead",
                    List.of(),
                    "CASSIA_RESERVE_AHEAD",
                    FLAG,
                    "on",
                    "Whether a client that puts one thing like the other has space reserved for the"
                            + " next one, which makes a put one trip to the master. Up to 4 MiB of"
                            + " the pool then count as in use for two seconds after its last put.");
    public static final Setting<Path> KEY_STORE =
            row(
                    "key-store",
                    List.of(),
                    "CASSIA_KEY_STORE",
                    FILE,
                    "",
                    "PKCS#12 file with the key of this process. With it bytes go over TLS 1.3 between"
                            + " members of the cluster that know its token, and nobody else is"
                            + " spoken to. None: plain, as Mooncake.");
    public static final Setting<Path> TRUST_STORE =
            row(
                    "trust-store",
                    List.of(),
                    "CASSIA_TRUST_STORE",
                    FILE,
                    "",
                    "PKCS#12 file with the authorities of peers' certificates. None: the key store.");
    public static final Setting<Boolean> VERIFY_HOST =
            row(
                    "verify-host",
                    List.of(),
                    "CASSIA_VERIFY_HOST",
                    FLAG,
                    "on",
                    "Whether a peer's certificate must name the host that was asked for.");
    public static final Setting<String> STORE_PASSWORD =
            row(
                    "store-password",
                    List.of(),
                    "CASSIA_STORE_PASSWORD",
                    SECRET,
                    "",
                    "Password of the key store and the trust store. No flag: others would see it.");
    public static final Setting<String> CLUSTER_TOKEN =
            row(
                    "cluster-token",
                    List.of(),
                    "CASSIA_CLUSTER_TOKEN",
                    SECRET,
                    "",
                    "Secret of all members of the cluster, at least 16 characters; needed with a key"
                            + " store. No flag: others would see it.");

    public static final Setting<String> HOST =
            row(
                    "host",
                    List.of(),
                    "CASSIA_NODE_ADDRESS",
                    ANY,
                    "127.0.0.1",
                    "Name under which peers reach this node.");
    public static final Setting<Long> SEGMENT =
            row(
                    "segment",
                    List.of("memory", "global-segment-size"),
                    "CASSIA_SEGMENT",
                    new ValueType.Size(1, 1L << 48),
                    "1GiB",
                    "Memory to lend.");
    public static final Setting<Long> LONGEST_SEGMENT =
            row(
                    "longest-segment",
                    List.of(),
                    "CASSIA_LONGEST_SEGMENT",
                    new ValueType.Size(1 << 20, 1L << 48),
                    "64GiB",
                    "More memory is mounted as several segments. An object lies in one of them.");
    public static final Setting<Duration> DRAIN =
            row(
                    "drain",
                    List.of(),
                    "CASSIA_DRAIN",
                    new ValueType.Span(SECONDS, Duration.ZERO, DAY),
                    "0",
                    "When stopped (SIGTERM, Ctrl-C), have the stored objects moved to other nodes and"
                            + " leave after that time at the latest; 0: leave at once.");

    private static final List<Setting<?>> SECURITY =
            List.of(KEY_STORE, TRUST_STORE, VERIFY_HOST, STORE_PASSWORD, CLUSTER_TOKEN);

    /** Of a client. */
    public static final SettingTable CLIENT =
            table(
                    List.of(
                            MASTER,
                            METADATA,
                            LOCAL_HOST,
                            TENANT,
                            TIMEOUT,
                            RETRY_TIME,
                            CONNECT_TIMEOUT,
                            LOCAL_BUFFER,
                            HOT_CACHE,
                            HOT_BLOCK,
                            CRC64,
                            RESERVE_AHEAD),
                    SECURITY);

    /** Of a node. */
    public static final SettingTable NODE =
            table(List.of(MASTER, METADATA, HOST, SEGMENT, LONGEST_SEGMENT, DRAIN), SECURITY);

    /** Of the node and the client in the process of a whole cluster. */
    public static final SettingTable CLUSTER =
            table(
                    List.of(
                            LONGEST_SEGMENT,
                            LOCAL_BUFFER,
                            HOT_CACHE,
                            HOT_BLOCK,
                            CRC64,
                            RESERVE_AHEAD),
                    SECURITY);

    private StoreFlags() {}

    private static SettingTable table(List<Setting<?>> own, List<Setting<?>> more) {
        List<Setting<?>> all = new ArrayList<>(own);
        all.addAll(more);
        return new SettingTable(PREFIX, StoreCode.INVALID_PARAMS, all);
    }

    private static <T> Setting<T> row(
            String name,
            List<String> aliases,
            String variable,
            ValueType<T> type,
            String initial,
            String meaning) {
        return new Setting<>(name, aliases, variable, type, initial, Support.FULL, meaning);
    }

    private static ValueType.Text text(String description, boolean isSecret) {
        return new ValueType.Text(Pattern.compile("[^\\p{Cntrl}]{1,4096}"), description, isSecret);
    }
}
