package io.cassia.transfer.environment;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.config.Spelling;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.metadata.MetadataOptions;
import io.cassia.transfer.net.PeerFilter;
import io.cassia.transfer.topology.DeviceFilter;
import io.cassia.transfer.topology.NetworkLink;
import io.cassia.transfer.topology.PeerAffinity;
import io.cassia.transfer.transport.Transport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EngineEnvironmentTest {
    private static final String HTTP = "http://10.0.0.9:8080/metadata";
    private static final List<NetworkLink> LINKS =
            List.of(
                    link("lo", true, true, "127.0.0.1", "::1"),
                    link("eth9", false, false, "10.0.0.7"),
                    link("eth0", true, false, "fe80::1", "10.0.0.1", "2001:db8::1"),
                    link("eth1", true, false, "10.0.0.2"));

    private static NetworkLink link(String name, boolean up, boolean loop, String... addresses) {
        return new NetworkLink(
                name,
                up,
                loop,
                OptionalInt.empty(),
                1500,
                OptionalInt.empty(),
                Optional.empty(),
                List.of(addresses));
    }

    private static EngineEnvironment of(String... variables) {
        return EngineEnvironment.read(map(variables)).orThrow();
    }

    private static Map<String, String> map(String... pairs) {
        Map<String, String> map = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            map.put(pairs[i], pairs[i + 1]);
        }
        return map;
    }

    private static TransferConfig config(String metadata, String name, String... variables) {
        return of(variables).config(metadata, name, () -> LINKS).orThrow();
    }

    private static void assertInvalid(Outcome<?> outcome, String... parts) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
                            assertThat(failed.detail()).contains(parts);
                        });
    }

    @Test
    void defaults_are_those_of_the_configuration() {
        TransferConfig standard = TransferConfig.p2p("10.0.0.1");
        assertThat(config("P2PHANDSHAKE", "10.0.0.1:12345")).isEqualTo(standard);
        assertThat(of().metadata()).isEqualTo(MetadataOptions.DEFAULT);
        assertThat(of().topology().file()).isEmpty();
        assertThat(of().devices()).isEqualTo(DeviceFilter.ALL);
        assertThat(of().affinity()).isEqualTo(new PeerAffinity.None());
    }

    @Test
    void every_variable_reaches_the_configuration() {
        TransferConfig config =
                config(
                        "P2PHANDSHAKE",
                        "10.0.0.1",
                        "MC_MIN_RPC_PORT",
                        "20000",
                        "MC_MAX_RPC_PORT",
                        "21000",
                        "MC_TCP_BIND_ADDRESS",
                        "10.0.0.2",
                        "MC_HANDSHAKE_LISTEN_BACKLOG",
                        "7",
                        "MC_HANDSHAKE_CONNECT_TIMEOUT",
                        "9",
                        "MC_HANDSHAKE_MAX_LENGTH",
                        "2097152",
                        "MC_FORCE_HCA",
                        "1",
                        "MC_TE_FILTERS",
                        "mlx5_0, mlx5_1",
                        "MC_TCP_LANES_PER_PEER",
                        "8",
                        "MC_TCP_STATUS_TIMEOUT_SEC",
                        "2",
                        "MC_TCP_PROTO",
                        "1",
                        "MC_TRANSFER_TIMEOUT",
                        "90",
                        "MC_METADATA_CLUSTER_ID",
                        "blue",
                        "MC_TE_METADATA_REFRESH_INTERVAL_SECONDS",
                        "11",
                        "CASSIA_METADATA_HEARTBEAT",
                        "2s",
                        "CASSIA_METADATA_ENTRY_TTL",
                        "6",
                        "CASSIA_METADATA_CONNECT_TIMEOUT",
                        "100ms",
                        "CASSIA_METADATA_REQUEST_TIMEOUT",
                        "200ms",
                        "MC_REDIS_USERNAME",
                        "me",
                        "MC_REDIS_PASSWORD",
                        "secret word",
                        "MC_REDIS_DB_INDEX",
                        "3",
                        "CASSIA_PEERS",
                        "10.0.0.0/8, fd00::1");
        assertThat(config)
                .isEqualTo(
                        TransferConfig.p2p("10.0.0.1")
                                .withPorts(new TransferConfig.Ports(0, 0, 20_000, 21_000))
                                .withLanesPerPeer(8)
                                .withTimeouts(
                                        TransferConfig.Timeouts.DEFAULT
                                                .withConnect(Duration.ofSeconds(9))
                                                .withStall(Duration.ofSeconds(2))
                                                .withBatch(Duration.ofSeconds(90)))
                                .withNetwork(
                                        new TransferConfig.Network(
                                                TransferConfig.Protocol.RDMA,
                                                new DeviceFilter(Set.of("mlx5_0", "mlx5_1")),
                                                Optional.of("10.0.0.2"),
                                                7,
                                                2 << 20,
                                                1,
                                                Duration.ofSeconds(11),
                                                PeerFilter.parse("10.0.0.0/8,fd00::1/128")))
                                .withStore(
                                        new MetadataOptions(
                                                "blue",
                                                new MetadataOptions.RedisLogin(
                                                        "me", "secret word", 3),
                                                Duration.ofMillis(100),
                                                Duration.ofMillis(200),
                                                Duration.ofSeconds(6),
                                                Duration.ofSeconds(2))));
    }

    @Test
    void topology_variables_reach_their_parts() {
        EngineEnvironment environment =
                of(
                        "MC_CUSTOM_TOPO_JSON",
                        "/etc/topology.json",
                        "MC_PATH_ROUNDROBIN",
                        "yes",
                        "MC_ENABLE_HCA_PEER_AFFINITY",
                        "on",
                        "MC_NIC_PEER_AFFINITY",
                        "a=b,c;d=e");
        assertThat(environment.topology().file()).contains(Path.of("/etc/topology.json"));
        assertThat(environment.affinity().wishes("a")).containsExactly("b", "c");
        assertThat(environment.pick(() -> 1).below(5)).isZero();
        assertThat(of().pick(() -> 8).below(5)).isEqualTo(3);
        assertThat(of("MC_ENABLE_DEST_DEVICE_AFFINITY", "1").affinity())
                .isEqualTo(new PeerAffinity.SameName());
    }

    @Test
    void with_a_store_the_first_interface_that_is_up_is_published() {
        TransferConfig config = config(HTTP, "node-7");
        assertThat(config.localHost()).isEqualTo("10.0.0.1");
        assertThat(config.segmentName()).isEqualTo("node-7");
        assertThat(config.ports().rpc()).isZero();
        assertThat(config(HTTP, "node-7", "MC_USE_IPV6", "1").localHost()).isEqualTo("2001:db8::1");
        assertThat(config(HTTP, "node-7", "MC_TCP_BIND_ADDRESS", "192.168.0.1").localHost())
                .isEqualTo("192.168.0.1");
        TransferConfig everywhere = config(HTTP, "node-7", "MC_TCP_BIND_ADDRESS", "0.0.0.0");
        assertThat(everywhere.localHost()).isEqualTo("10.0.0.1");
        assertThat(everywhere.network().bindAddress()).contains("0.0.0.0");
        assertInvalid(of().config(HTTP, "node-7", List::of), "MC_TCP_BIND_ADDRESS");
    }

    @Test
    void legacy_port_binding_takes_host_and_port_from_the_name() {
        String legacy = "MC_LEGACY_RPC_PORT_BINDING";
        TransferConfig named = config("10.0.0.9:2379", "node7:13000", legacy, "1");
        assertThat(named.localHost()).isEqualTo("node7");
        assertThat(named.segmentName()).isEqualTo("node7:13000");
        assertThat(named.ports().rpc()).isEqualTo(13000);
        assertThat(config(HTTP, "node7", legacy, "1").ports().rpc()).isEqualTo(12001);
        assertThat(config(HTTP, "node7", legacy, "1", "MC_HANDSHAKE_PORT", "99").ports().rpc())
                .isEqualTo(99);
        assertThat(config("P2PHANDSHAKE", "node7:13000", legacy, "1").ports().rpc()).isZero();
    }

    @Test
    void force_tcp_wins_over_force_rdma() {
        TransferConfig config =
                config("P2PHANDSHAKE", "a", "MC_FORCE_HCA", "1", "MC_FORCE_TCP", "1");
        assertThat(config.network().protocol()).isEqualTo(TransferConfig.Protocol.TCP);
    }

    @Test
    void transports_are_all_unless_some_are_named_or_tcp_is_forced() {
        assertThat(config("P2PHANDSHAKE", "a").transports())
                .containsExactlyInAnyOrder(Transport.values());
        String some = "CASSIA_TRANSPORTS";
        assertThat(config("P2PHANDSHAKE", "a", some, "tcp, shm").transports())
                .containsExactly(Transport.SHM, Transport.TCP);
        assertThat(config("P2PHANDSHAKE", "a", some, "shm", "MC_FORCE_TCP", "1").transports())
                .containsExactly(Transport.TCP);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "MC_MIN_RPC_PORT|80|a whole number from 1024 to 65535",
                "MC_MIN_PRC_PORT|x|a whole number from 1024 to 65535",
                "MC_TCP_LANES_PER_PEER|0|a whole number from 1 to 64",
                "MC_TCP_LANES_PER_PEER|4x|a whole number from 1 to 64",
                "MC_TCP_LANES_PER_PEER|99999999999|a whole number from 1 to 64",
                "MC_TCP_PROTO|3|a whole number from 1 to 2",
                "MC_TRANSFER_TIMEOUT|4|a duration from 5s to 1d; a plain number counts seconds",
                "MC_TRANSFER_TIMEOUT|-1|a duration from 5s to 1d",
                "MC_HANDSHAKE_CONNECT_TIMEOUT|2h|a duration from 1ms to 1h",
                "MC_HANDSHAKE_MAX_LENGTH|1024|a size from 1MiB to 128MiB",
                "MC_HANDSHAKE_MAX_LENGTH|129MiB|a size from 1MiB to 128MiB",
                "MC_USE_IPV6|perhaps|1, true, on, yes, or 0, false, off, no",
                "MC_REDIS_DB_INDEX|-1|a whole number from 0 to 65535",
                "MC_TCP_BIND_ADDRESS|a b|a host name or address",
                "MC_TE_FILTERS|mlx5_0;|a comma list of device names",
                "CASSIA_TRANSPORTS|shm,rdma|a comma list of local, shm, process-vm, uds, tcp"
            })
    void a_bad_value_names_variable_value_and_range(String variable, String value, String range) {
        assertInvalid(
                EngineEnvironment.read(map(variable, value)),
                variable + "=\"" + value + "\": it is " + range);
    }

    @Test
    void a_bad_secret_is_not_repeated() {
        Outcome<EngineEnvironment> outcome =
                EngineEnvironment.read(map("MC_REDIS_PASSWORD", "s3cret\u0007"));
        assertInvalid(outcome, "MC_REDIS_PASSWORD=***: it is any text");
        assertThat(outcome.toString()).doesNotContain("s3cret");
    }

    @ParameterizedTest
    @ValueSource(strings = {"17000 15000", "15000 40000", "33000 34000", "40000 65000"})
    void a_port_range_that_is_none_or_the_kernels_is_invalid(String range) {
        String[] ends = range.split(" ", -1);
        assertInvalid(
                EngineEnvironment.read(map("MC_MIN_RPC_PORT", ends[0], "MC_MAX_RPC_PORT", ends[1])),
                "MC_MIN_RPC_PORT=" + ends[0],
                "MC_MAX_RPC_PORT=" + ends[1],
                "outside 32768 to 60999");
    }

    @Test
    void settings_that_contradict_each_other_are_invalid() {
        assertInvalid(
                EngineEnvironment.read(map("CASSIA_METADATA_ENTRY_TTL", "15s")),
                "metadata-entry-ttl",
                "metadata-heartbeat");
        assertInvalid(
                EngineEnvironment.read(
                        map(
                                "MC_ENABLE_DEST_DEVICE_AFFINITY",
                                "1",
                                "MC_ENABLE_HCA_PEER_AFFINITY",
                                "1")),
                "exclude each other");
        assertInvalid(
                EngineEnvironment.read(map("MC_ENABLE_HCA_PEER_AFFINITY", "1")),
                "MC_NIC_PEER_AFFINITY");
        assertInvalid(
                EngineEnvironment.read(
                        map("MC_ENABLE_HCA_PEER_AFFINITY", "1", "MC_NIC_PEER_AFFINITY", "a=b;a=c")),
                "MC_NIC_PEER_AFFINITY: device affinity");
    }

    @Test
    void an_alias_counts_when_the_variable_is_not_set_and_empty_values_count_as_none() {
        String old = "MC_TCP_MAX_CONNECTIONS_PER_PEER";
        assertThat(config("P2PHANDSHAKE", "a", old, "7").lanesPerPeer()).isEqualTo(7);
        assertThat(
                        config("P2PHANDSHAKE", "a", old, "7", "MC_TCP_LANES_PER_PEER", "5")
                                .lanesPerPeer())
                .isEqualTo(5);
        assertThat(
                        config("P2PHANDSHAKE", "a", old, "7", "MC_TCP_LANES_PER_PEER", " ")
                                .lanesPerPeer())
                .isEqualTo(7);
    }

    @Test
    void flags_win_over_the_environment_and_that_over_the_file() {
        Map<String, String> file = map("lanes-per-peer", "2", "min-port", "14000");
        Map<String, String> variables = map("MC_TCP_LANES_PER_PEER", "3");
        Map<String, String> flags = map("lanes-per-peer", "5");
        assertThat(lanes(file, Map.of(), Map.of())).isEqualTo(2);
        assertThat(lanes(file, variables, Map.of())).isEqualTo(3);
        assertThat(lanes(file, variables, flags)).isEqualTo(5);
        assertInvalid(
                EngineEnvironment.read(map("lanes-per-peer", "0"), Map.of(), Map.of()),
                "lanes-per-peer=\"0\": it is a whole number from 1 to 64");
    }

    private static Long lanes(
            Map<String, String> file, Map<String, String> variables, Map<String, String> flags) {
        return EngineEnvironment.read(file, variables, flags)
                .orThrow()
                .find(EngineSettings.LANES_PER_PEER)
                .orElseThrow();
    }

    @Test
    void an_unknown_setting_names_the_nearest() {
        assertInvalid(
                EngineEnvironment.read(Map.of(), Map.of(), map("lane-per-peers", "3")),
                "setting \"lane-per-peers\" is unknown; the nearest is \"lanes-per-peer\"");
        assertThat(Spelling.distance("kitten", "sitting")).isEqualTo(3);
    }

    @Test
    void a_local_name_or_metadata_that_is_none_is_invalid() {
        assertInvalid(of().config("P2PHANDSHAKE", "", () -> LINKS), "local name");
        assertInvalid(of().config("P2PHANDSHAKE", "a:b", () -> LINKS), "local name");
        assertInvalid(of().config("zookeeper://a", "a:1", () -> LINKS), "zookeeper");
    }

    @Test
    void the_table_is_sound() {
        Set<String> seen = new HashSet<>();
        for (Setting<?> setting : EngineSettings.ALL) {
            assertThat(setting.name()).matches("[a-z0-9]+(-[a-z0-9]+)*");
            assertThat(seen.add(setting.name())).as(setting.name()).isTrue();
            setting.variables()
                    .forEach(
                            variable -> {
                                assertThat(variable).matches("(MC|CASSIA)(_[A-Z0-9]+)+");
                                assertThat(seen.add(variable)).as(variable).isTrue();
                            });
            assertThat(setting.meaning()).endsWith(".");
            if (!setting.initial().isEmpty()) {
                assertThat(
                                setting.type()
                                        .read(
                                                setting.name(),
                                                setting.initial(),
                                                TransferCode.ERR_INVALID_ARGUMENT)
                                        .isOk())
                        .isTrue();
            }
        }
        assertThat(EngineSettings.ALL).hasSize(32);
    }
}
