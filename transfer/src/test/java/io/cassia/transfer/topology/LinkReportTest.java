package io.cassia.transfer.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class LinkReportTest {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    @TempDir private Path root;

    private HostTopology host() {
        FakeHost fake = new FakeHost(root).node(0, "0-3", 1 << 20, "10");
        fake.rdma("mlx5_0", "pci0000:00/0000:01:00.0", 0);
        fake.rdma("mlx5_1", "pci0000:00/0000:02:00.0", 1);
        fake.rdma("mlx5_2", "pci0000:00/0000:03:00.0", 0).delete("dev/infiniband/uverbs2");
        fake.gpu("pci0000:00/0000:04:00.0", 0, "0x10de");
        fake.link("eth0", "pci0000:00/0000:05:00.0", 0, "up", "1000").virtualLink("lo", "0x9");
        try (FakeVerbs verbs = new FakeVerbs("mlx5_0", "mlx5_1", "mlx5_2")) {
            return fake.discover(verbs.library());
        }
    }

    @Test
    void opened_devices_show_their_links_and_others_the_topology_alone() {
        HostTopology host = host();
        LinkReport report =
                new LinkReport(
                        host,
                        host.matrix(DeviceFilter.ALL),
                        Set.of("mlx5_0"),
                        List.of(
                                new LinkReport.Peer(
                                        "10.0.0.2:15001",
                                        "tcp",
                                        "10.0.0.2:15002",
                                        "busy",
                                        3,
                                        1,
                                        "broken 12 ms ago: reset")));
        JsonNode json = JSON.readTree(report.toJson());
        assertThat(json.path("local_nics").toString())
                .isEqualTo(
                        "[{\"device\":\"mlx5_0\",\"gid\":\"0000:0000:0000:0000:0000:ffff:0a00:0001\","
                                + "\"gid_index\":3,\"numa\":0,\"port\":1,\"source\":\"rdma_transport\","
                                + "\"speed_gbps\":200},"
                                + "{\"device\":\"mlx5_1\",\"gid\":\"\",\"gid_index\":-1,\"numa\":-1,"
                                + "\"port\":0,\"source\":\"topology\",\"speed_gbps\":0}]");
        assertThat(json.path("topology").toString())
                .isEqualTo(
                        "{\"cpu:0\":[[\"mlx5_0\"],[\"mlx5_1\"]],"
                                + "\"cuda:0\":[[\"mlx5_0\"],[\"mlx5_1\"]]}");
        assertThat(json.path("peers").path(0).path("lanes").intValue()).isEqualTo(4);
        assertThat(json.path("host").path("unusable_devices").path(0).path("device").stringValue())
                .isEqualTo("mlx5_2");
        assertThat(report.toJson()).contains("\n  \"local_nics\"").endsWith("}\n");
    }

    @Test
    void the_text_has_upstreams_sections_and_ours() {
        HostTopology host = host();
        LinkReport report =
                new LinkReport(
                        host, host.matrix(DeviceFilter.ALL), Set.of("mlx5_0", "mlx5_1"), List.of());
        assertThat(report.toText())
                .isEqualTo(
                        """
                        === Local NICs ===
                          mlx5_0 NUMA=0 GID=0000:0000:0000:0000:0000:ffff:0a00:0001 (idx=3) Port=1 200Gbps
                          mlx5_1 NUMA=1 GID=0000:0000:0000:0000:0000:ffff:0a00:0001 (idx=3) Port=1 200Gbps
                          mlx5_2 unusable: %s/dev/infiniband/uverbs2 is not accessible

                        === Topology (NIC selection) ===
                          cpu:0 -> preferred [mlx5_0] available [mlx5_1]
                          cuda:0 -> preferred [mlx5_0] available [mlx5_1]

                        === Host ===
                          node 0 CPUs=0-3 memory=1024MiB free=512MiB
                          eth0 up 1000Mbps NUMA=0 PCI=0000:05:00.0 []
                          lo up [127.0.0.1]
                          cuda:0 NUMA=0 PCI=0000:04:00.0

                        === Peers ===
                          (none)
                        """
                                .formatted(root));
    }

    @Test
    void a_host_without_devices_says_so() {
        HostTopology host = HostProbe.system().discover();
        String text = LinkReport.of(host, PriorityMatrix.EMPTY).toText();
        assertThat(text).contains("(no RDMA devices found)", "=== Host ===", "lo up");
        PriorityMatrix given = PriorityMatrix.parse("{\"cpu:0\":[[\"a\"],[]]}", "test").orThrow();
        assertThat(LinkReport.of(host, given).toText())
                .contains("(topology only; no RDMA transport is installed)\n  a\n");
    }
}
