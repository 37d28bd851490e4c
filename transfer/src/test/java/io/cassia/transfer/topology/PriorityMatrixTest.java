package io.cassia.transfer.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PriorityMatrixTest {
    private static final String SPEC =
            "{\"cpu:0\":[[\"mlx5_0\"],[\"mlx5_1\"]],"
                    + "\"cuda:0\":[[\"mlx5_0\"],[\"mlx5_1\",\"mlx5_2\"]]}";

    @TempDir private Path directory;

    @Test
    void text_of_the_specification_is_read_and_printed_alike() {
        PriorityMatrix matrix = PriorityMatrix.parse(SPEC, "test").orThrow();
        assertThat(matrix.devices()).containsExactly("mlx5_0", "mlx5_1", "mlx5_2");
        assertThat(matrix.toJson()).isEqualTo(SPEC);
    }

    @Test
    void members_are_sorted_whatever_order_and_space_they_came_in() {
        String text =
                """
                { "cuda:0" : [ ["mlx5_0"], ["mlx5_1", "mlx5_2"] ],
                 "cpu:0" : [["mlx5_0"],["mlx5_1"]] }
                """;
        assertThat(PriorityMatrix.parse(text, "test").orThrow().toJson()).isEqualTo(SPEC);
    }

    @Test
    void the_wildcard_is_every_device_and_is_not_printed() {
        PriorityMatrix matrix = PriorityMatrix.parse(SPEC, "test").orThrow();
        assertThat(matrix.find("*"))
                .contains(
                        new PriorityMatrix.Entry(List.of("mlx5_0", "mlx5_1", "mlx5_2"), List.of()));
        String own = "{\"*\":[[\"b\"],[\"a\"]]}";
        assertThat(PriorityMatrix.parse(own, "test").orThrow().find("*"))
                .contains(new PriorityMatrix.Entry(List.of("b"), List.of("a")));
    }

    @Test
    void a_host_without_devices_has_empty_lists() {
        String text = "{\"cpu:0\":[[],[]],\"cpu:1\":[[],[]]}";
        PriorityMatrix matrix = PriorityMatrix.parse(text, "test").orThrow();
        assertThat(matrix.devices()).isEmpty();
        assertThat(matrix.toJson()).isEqualTo(text);
        assertThat(PriorityMatrix.parse("{}", "test").orThrow()).isEqualTo(PriorityMatrix.EMPTY);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "  \n",
                "nonsense",
                "[]",
                "null",
                "17",
                "{\"cpu:0\":[[\"a\"],[\"b\"]]",
                "{\"cpu:0\":[[\"a\"],[\"b\"]]} trailing",
                "{\"cpu:0\":[]}",
                "{\"cpu:0\":[[\"a\"]]}",
                "{\"cpu:0\":[[\"a\"],[\"b\"],[]]}",
                "{\"cpu:0\":[\"a\",\"b\"]}",
                "{\"cpu:0\":[{},{}]}",
                "{\"cpu:0\":{\"0\":[],\"1\":[]}}",
                "{\"cpu:0\":\"a\"}",
                "{\"cpu:0\":null}",
                "{\"cpu:0\":[[1],[]]}",
                "{\"cpu:0\":[[\"\"],[]]}",
                "{\"cpu:0\":[[],[null]]}",
                "{\"cpu:0\":[[],[[]]]}",
            })
    void anything_else_is_malformed(String text) {
        assertThat(PriorityMatrix.parse(text, "the test"))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(TransferCode.ERR_MALFORMED_JSON);
                            assertThat(failed.detail()).startsWith("topology of the test: ");
                        });
    }

    @Test
    void text_above_a_mebibyte_is_refused_unread() {
        String text = "{\"cpu:0\":[[\"" + "a".repeat(1 << 20) + "\"],[]]}";
        assertThat(PriorityMatrix.parse(text, "test").isOk()).isFalse();
    }

    @Test
    void a_file_replaces_the_host_and_an_argument_replaces_the_file() throws IOException {
        HostTopology host = HostProbe.system().discover();
        Path file = Files.writeString(directory.resolve("topology.json"), SPEC + "\n");
        assertThat(TopologySource.of(Optional.of(file)).resolve(host, DeviceFilter.ALL))
                .isEqualTo(PriorityMatrix.parse(SPEC, "test"));
        String argument = "{\"cpu:1\":[[\"x\"],[]]}";
        assertThat(
                        new TopologySource(Optional.of(argument), Optional.of(file))
                                .resolve(host, DeviceFilter.ALL)
                                .orThrow()
                                .devices())
                .containsExactly("x");
        assertThat(TopologySource.HOST.resolve(host, DeviceFilter.ALL))
                .isEqualTo(Outcome.ok(host.matrix(DeviceFilter.ALL)));
    }

    @Test
    void a_bad_file_never_falls_back_to_the_host() throws IOException {
        HostTopology host = HostProbe.system().discover();
        Path missing = directory.resolve("missing.json");
        assertThat(TopologySource.of(Optional.of(missing)).resolve(host, DeviceFilter.ALL))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
                            assertThat(failed.detail())
                                    .contains("missing.json", "MC_CUSTOM_TOPO_JSON");
                        });
        Path bad = Files.writeString(directory.resolve("bad.json"), "{\"cpu:0\":[]}");
        assertThat(TopologySource.of(Optional.of(bad)).resolve(host, DeviceFilter.ALL))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed ->
                                assertThat(failed.code())
                                        .isEqualTo(TransferCode.ERR_MALFORMED_JSON));
    }

    @Test
    void selection_takes_preferred_first_and_goes_through_all_on_retries() {
        DeviceSelector selector = selector(Set.of());
        assertThat(selector.select("cuda:0", 0))
                .isEqualTo(Outcome.ok(new DeviceSelector.Device(0, "mlx5_0")));
        assertThat(List.of(1, 2, 3, 4, 5).stream().map(k -> name(selector, k)))
                .containsExactly("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_0", "mlx5_1");
    }

    private static String name(DeviceSelector selector, int retry) {
        return selector.select("cuda:0", retry).orThrow().name();
    }

    @Test
    void selection_goes_round_or_at_random_among_equals() {
        PriorityMatrix matrix =
                PriorityMatrix.of(
                        Map.of(
                                "cpu:0",
                                new PriorityMatrix.Entry(List.of("a", "b", "c"), List.of())));
        DeviceSelector round =
                new DeviceSelector(matrix, Set.of(), DeviceSelector.Pick.roundRobin());
        assertThat(List.of(0, 0, 0, 0).stream().map(k -> round.select("cpu:0", k).orThrow().name()))
                .containsExactly("a", "b", "c", "a");
        long[] bits = {-1};
        DeviceSelector random =
                new DeviceSelector(matrix, Set.of(), DeviceSelector.Pick.random(() -> bits[0]));
        // 2^64-1 is divisible by 3.
        assertThat(random.select("cpu:0", 0).orThrow().name()).isEqualTo("a");
        bits[0] = 5;
        assertThat(random.select("cpu:0", 0).orThrow().name()).isEqualTo("c");
    }

    @Test
    void a_disabled_device_is_never_selected_and_keeps_its_number() {
        DeviceSelector selector = selector(Set.of("mlx5_0"));
        assertThat(selector.select("cuda:0", 1))
                .isEqualTo(Outcome.ok(new DeviceSelector.Device(1, "mlx5_1")));
        assertThat(selector.select("cpu:0", 0))
                .isEqualTo(Outcome.ok(new DeviceSelector.Device(1, "mlx5_1")));
        assertThat(selector(Set.of("mlx5_0", "mlx5_1")).select("cpu:0", 0))
                .isEqualTo(
                        Outcome.failed(
                                TransferCode.ERR_DEVICE_NOT_FOUND,
                                "no device for memory at \"cpu:0\": none is enabled of [mlx5_0,"
                                        + " mlx5_1]"));
    }

    @Test
    void an_unknown_location_or_no_device_is_not_found() {
        assertThat(selector(Set.of()).select("cpu:7", 0))
                .isEqualTo(
                        Outcome.failed(
                                TransferCode.ERR_DEVICE_NOT_FOUND,
                                "no device for memory at \"cpu:7\": the topology knows [cpu:0,"
                                        + " cuda:0]"));
        assertThat(selector(Set.of()).selectOrAny("cpu:7", 2).orThrow().name()).isEqualTo("mlx5_1");
        PriorityMatrix none = PriorityMatrix.parse("{\"cpu:0\":[[],[]]}", "test").orThrow();
        DeviceSelector selector = new DeviceSelector(none, Set.of(), bound -> 0);
        for (String location : List.of("cpu:0", "*")) {
            assertThat(selector.select(location, 0))
                    .isEqualTo(
                            Outcome.failed(
                                    TransferCode.ERR_DEVICE_NOT_FOUND,
                                    "no device for memory at \"%s\": this host has no RDMA device"
                                            .formatted(location)));
        }
    }

    @Test
    void a_peer_device_is_taken_by_affinity_where_it_serves_the_location() {
        DeviceSelector peer = selector(Set.of());
        PeerAffinity table = PeerAffinity.parse("mlx5_0=mlx5_2, mlx5_9;mlx5_1=mlx5_1").orThrow();
        assertThat(peer.select("cuda:0", 0, table.wishes("mlx5_0")).orThrow().name())
                .isEqualTo("mlx5_2");
        assertThat(peer.select("cpu:0", 0, table.wishes("mlx5_0")).orThrow().name())
                .isEqualTo("mlx5_0");
        assertThat(peer.select("cuda:0", 1, table.wishes("mlx5_0")).orThrow().name())
                .isEqualTo("mlx5_0");
        assertThat(new PeerAffinity.SameName().wishes("mlx5_1")).containsExactly("mlx5_1");
        assertThat(new PeerAffinity.None().wishes("mlx5_1")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a", "=b", "a=", "a=b,", "a=b;a=c", "a=b;"})
    void a_bad_affinity_names_the_part(String text) {
        assertThat(PeerAffinity.parse(text))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed ->
                                assertThat(failed.code())
                                        .isEqualTo(TransferCode.ERR_INVALID_ARGUMENT));
    }

    private static DeviceSelector selector(Set<String> disabled) {
        return new DeviceSelector(
                PriorityMatrix.parse(SPEC, "test").orThrow(), disabled, bound -> 0);
    }
}
