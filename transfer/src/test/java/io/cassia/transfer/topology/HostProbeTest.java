package io.cassia.transfer.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostProbeTest {
    @TempDir private Path root;

    @Test
    void nodes_have_cpus_memory_and_distances() {
        HostTopology host = discover(FakeHost.twoSockets(root));
        assertThat(host.numaNodes())
                .containsExactly(
                        new NumaNode(
                                0,
                                CpuSet.parse("0-31,64-95").orElseThrow(),
                                256L << 30,
                                128L << 30,
                                List.of(10, 21)),
                        new NumaNode(
                                1,
                                CpuSet.parse("32-63,96-127").orElseThrow(),
                                128L << 30,
                                64L << 30,
                                List.of(21, 10)));
    }

    @Test
    void numbers_of_nodes_may_have_gaps_and_a_node_may_have_no_cpus() {
        FakeHost fake =
                new FakeHost(root)
                        .node(10, "", 4096, "20 10 30")
                        .node(2, "4-7", 4096, "10 20 30")
                        .node(8, "", 0, "30 30 10");
        fake.write("sys/devices/system/node/possible", "0-15");
        HostTopology host = discover(fake);
        assertThat(host.numaNodes()).extracting(NumaNode::id).containsExactly(2, 8, 10);
        assertThat(host.numaNodes().get(2).cpus()).isEqualTo(CpuSet.EMPTY);
        assertThat(host.matrix(DeviceFilter.ALL).toJson())
                .isEqualTo("{\"cpu:10\":[[],[]],\"cpu:2\":[[],[]],\"cpu:8\":[[],[]]}");
    }

    @Test
    void a_kernel_without_numa_is_one_node() {
        FakeHost fake = new FakeHost(root).write("sys/devices/system/cpu/online", "0-3");
        fake.write("proc/meminfo", "MemTotal:       2048 kB\nMemFree:         512 kB");
        assertThat(discover(fake).numaNodes())
                .containsExactly(
                        new NumaNode(
                                0, new CpuSet(List.of(0, 1, 2, 3)), 2 << 20, 512 << 10, List.of()));
    }

    @Test
    void links_tell_state_speed_place_and_addresses() {
        FakeHost fake = new FakeHost(root);
        fake.link("eth0", "pci0000:00/0000:00:03.0/virtio2", -1, "up", "25000");
        fake.write("sys/devices/pci0000:00/0000:00:03.0/numa_node", "1");
        fake.link("eth1", "pci0000:40/0000:40:01.0/0000:41:00.1", 0, "down", "-1");
        fake.virtualLink("lo", "0x9").virtualLink("dummy0", "0x82");
        assertThat(discover(fake).networkLinks())
                .containsExactly(
                        new NetworkLink(
                                "dummy0",
                                false,
                                false,
                                OptionalInt.empty(),
                                65536,
                                OptionalInt.empty(),
                                Optional.empty(),
                                List.of()),
                        new NetworkLink(
                                "eth0",
                                true,
                                false,
                                OptionalInt.of(25000),
                                9000,
                                OptionalInt.of(1),
                                Optional.of("0000:00:03.0"),
                                List.of()),
                        new NetworkLink(
                                "eth1",
                                false,
                                false,
                                OptionalInt.empty(),
                                9000,
                                OptionalInt.of(0),
                                Optional.of("0000:41:00.1"),
                                List.of()),
                        new NetworkLink(
                                "lo",
                                true,
                                true,
                                OptionalInt.empty(),
                                65536,
                                OptionalInt.empty(),
                                Optional.empty(),
                                List.of("127.0.0.1")));
    }

    @Test
    void devices_are_numbered_as_libibverbs_lists_them() {
        FakeHost fake = FakeHost.twoSockets(root);
        try (FakeVerbs verbs = new FakeVerbs("mlx5_2", "mlx5_0", "mlx5_1", "mlx5_3")) {
            HostTopology host = fake.discover(verbs.library());
            assertThat(host.matrix(DeviceFilter.ALL).devices())
                    .containsExactly("mlx5_2", "mlx5_0", "mlx5_1", "mlx5_3");
            assertThat(verbs.openLists).isZero();
        }
    }

    @Test
    void a_device_shows_its_active_port_and_furthest_reaching_gid() {
        FakeHost fake = FakeHost.twoSockets(root);
        fake.port("mlx5_3", 2, "1: DOWN", "2.5 Gb/sec (1X)", "0x1f");
        HostTopology host = discover(fake);
        RdmaDevice device = host.rdmaDevices().get(3);
        assertThat(device.numaNode()).hasValue(1);
        assertThat(device.pci().orElseThrow().address()).isEqualTo("0000:33:00.0");
        assertThat(device.ports())
                .containsExactly(
                        new RdmaDevice.Port(
                                1, true, 200, 0, 3, "0000:0000:0000:0000:0000:ffff:0a00:0001"),
                        new RdmaDevice.Port(2, false, 2, 31, -1, ""));
        assertThat(device.port()).contains(device.ports().getFirst());
    }

    @Test
    void memory_prefers_devices_of_its_node_and_accelerators_the_fewest_hops() {
        assertThat(discover(FakeHost.twoSockets(root)).matrix(DeviceFilter.ALL).toJson())
                .isEqualTo(
                        "{\"cpu:0\":[[\"mlx5_0\",\"mlx5_1\"],[\"mlx5_2\",\"mlx5_3\"]],"
                                + "\"cpu:1\":[[\"mlx5_2\",\"mlx5_3\"],[\"mlx5_0\",\"mlx5_1\"]],"
                                + "\"cuda:0\":[[\"mlx5_0\"],[\"mlx5_1\",\"mlx5_2\",\"mlx5_3\"]],"
                                + "\"cuda:1\":[[\"mlx5_1\"],[\"mlx5_0\",\"mlx5_2\",\"mlx5_3\"]],"
                                + "\"cuda:2\":[[\"mlx5_2\"],[\"mlx5_0\",\"mlx5_1\",\"mlx5_3\"]],"
                                + "\"cuda:3\":[[\"mlx5_3\"],[\"mlx5_0\",\"mlx5_1\",\"mlx5_2\"]]}");
    }

    @Test
    void an_accelerator_of_a_node_without_devices_takes_the_closest_of_all() {
        FakeHost fake = new FakeHost(root).node(0, "0-1", 1, "10 20").node(1, "2-3", 1, "20 10");
        fake.rdma("mlx5_0", "pci0000:00/0000:00:01.0/0000:01:00.0", 0);
        fake.rdma("mlx5_1", "pci0000:00/0000:02:00.0", 0);
        fake.gpu("pci0000:80/0000:81:00.0", 1, "0x1ed5");
        assertThat(discover(fake).matrix(DeviceFilter.ALL).entries().get("musa:0"))
                .isEqualTo(new PriorityMatrix.Entry(List.of("mlx5_1"), List.of("mlx5_0")));
    }

    @Test
    void only_accelerators_of_known_makers_count_each_kind_by_itself() {
        FakeHost fake = new FakeHost(root);
        fake.gpu("pci0000:00/0000:01:00.0", 0, "0x10de");
        fake.pci("pci0000:00/0000:02:00.0", 0, "0x030000", "0x1234"); // a display adapter
        fake.pci("pci0000:00/0000:03:00.0", 0, "0x040300", "0x10de"); // a GPU's sound device
        fake.pci("pci0000:00/0000:04:00.0", 0, "0x120000", "0x19e5");
        fake.gpu("pci0000:00/0000:05:00.0", -1, "0x10de");
        assertThat(discover(fake).accelerators())
                .extracting(a -> a.location() + " " + a.pci().address())
                .containsExactly(
                        "cuda:0 0000:01:00.0", "npu:0 0000:04:00.0", "cuda:1 0000:05:00.0");
    }

    @Test
    void unusable_devices_are_kept_out_and_say_why() {
        FakeHost fake = new FakeHost(root).node(0, "0", 1, "10");
        for (int i = 0; i < 6; i++) {
            fake.rdma("mlx5_" + i, "pci0000:00/0000:0%d:00.0".formatted(i), 0);
        }
        fake.port("mlx5_1", 1, "1: DOWN", "100 Gb/sec (4X EDR)", "0x0");
        for (int gid : new int[] {0, 1, 3}) {
            fake.gid("mlx5_2", 1, gid, "fe80:0000:0000:0000:0000:0000:0000:0000", "RoCE v2");
        }
        fake.delete("dev/infiniband/uverbs3").delete("sys/class/infiniband_verbs/uverbs4/ibdev");
        try (FakeVerbs verbs = new FakeVerbs("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "mlx5_4")) {
            HostTopology host = fake.discover(verbs.library());
            assertThat(host.rdmaDevices())
                    .extracting(device -> device.obstacle().orElse("usable"))
                    .containsExactly(
                            "usable",
                            "no port is active",
                            "no active port has a GID",
                            root + "/dev/infiniband/uverbs3 is not accessible",
                            "it has no node in " + root + "/dev/infiniband",
                            "libibverbs does not know it");
            assertThat(host.matrix(DeviceFilter.ALL).devices()).containsExactly("mlx5_0");
        }
    }

    @Test
    void the_filter_keeps_devices_out_of_the_matrix() {
        HostTopology host = discover(FakeHost.twoSockets(root));
        PriorityMatrix matrix = host.matrix(DeviceFilter.parse(" mlx5_3, mlx5_0,,none "));
        assertThat(matrix.devices()).containsExactly("mlx5_0", "mlx5_3");
        assertThat(matrix.entries().get("cuda:2"))
                .isEqualTo(new PriorityMatrix.Entry(List.of("mlx5_3"), List.of("mlx5_0")));
        assertThat(host.matrix(DeviceFilter.parse(" ")).devices()).hasSize(4);
    }

    @Test
    void rdma_without_a_device_is_not_found_and_tells_why() {
        HostTopology bare = discover(new FakeHost(root));
        assertThat(bare.requireDevices(DeviceFilter.ALL))
                .isEqualTo(
                        Outcome.failed(
                                TransferCode.ERR_DEVICE_NOT_FOUND,
                                "protocol rdma needs an RDMA device; this host has none; use"
                                        + " protocol tcp"));
        FakeHost fake = new FakeHost(root).rdma("mlx5_0", "pci0000:00/0000:01:00.0", 0);
        assertThat(discover(fake).requireDevices(DeviceFilter.parse("mlx5_7")))
                .isEqualTo(
                        Outcome.failed(
                                TransferCode.ERR_DEVICE_NOT_FOUND,
                                "protocol rdma needs an RDMA device; mlx5_0: is not among the"
                                        + " allowed devices; use protocol tcp"));
    }

    @Test
    void without_libibverbs_devices_are_known_and_unusable() {
        FakeHost fake = FakeHost.twoSockets(root);
        HostTopology host =
                new HostProbe(fake.paths(), name -> List.of(), Optional.empty()).discover();
        assertThat(host.notes()).containsExactly("libibverbs is not installed");
        assertThat(host.rdmaDevices()).hasSize(4).noneMatch(RdmaDevice::isUsable);
    }

    @Test
    void a_kernel_without_rdma_is_noted() {
        try (FakeVerbs verbs = new FakeVerbs("mlx5_0")) {
            verbs.cannotList = true;
            HostTopology host = new FakeHost(root).discover(verbs.library());
            assertThat(host.rdmaDevices()).isEmpty();
            assertThat(host.notes()).singleElement().asString().contains("cannot be listed");
        }
    }

    @Test
    void this_host_is_discovered() {
        HostTopology host = HostProbe.system().discover();
        int cpus = host.numaNodes().stream().mapToInt(node -> node.cpus().ids().size()).sum();
        assertThat(cpus).isGreaterThanOrEqualTo(Runtime.getRuntime().availableProcessors());
        assertThat(host.numaNodes().getFirst().memoryBytes()).isGreaterThan(100L << 20);
        assertThat(host.networkLinks())
                .filteredOn(NetworkLink::loopback)
                .singleElement()
                .satisfies(lo -> assertThat(lo.addresses()).contains("127.0.0.1"));
    }

    private static HostTopology discover(FakeHost fake) {
        List<String> names =
                List.copyOf(Sysfs.names(fake.paths().sys().resolve("class/infiniband")));
        try (FakeVerbs verbs = new FakeVerbs(names.toArray(String[]::new))) {
            return fake.discover(verbs.library());
        }
    }
}
