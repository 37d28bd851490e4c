package io.cassia.transfer.topology;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Fabricates the sysfs tree of a host. Confined to a test's thread. */
final class FakeHost {
    private static final String GPU_CLASS = "0x030200";
    private static final String NIC_CLASS = "0x020000";

    private final Path root;
    private int uverbs;

    FakeHost(Path root) {
        this.root = root;
    }

    HostPaths paths() {
        return HostPaths.under(root);
    }

    FakeHost node(int id, String cpus, long memoryKilobytes, String distances) {
        String directory = "sys/devices/system/node/node" + id;
        write(directory + "/cpulist", cpus);
        write(directory + "/distance", distances);
        write(
                directory + "/meminfo",
                "Node %d MemTotal:       %d kB%nNode %d MemFree:        %d kB%nNode %d Unevictable: x"
                        .formatted(id, memoryKilobytes, id, memoryKilobytes / 2, id));
        return this;
    }

    FakeHost link(String name, String hops, int node, String state, String speed) {
        pci(hops, node, NIC_CLASS, "0x15b3");
        String directory = "sys/class/net/" + name;
        write(directory + "/flags", "0x1003");
        write(directory + "/operstate", state);
        write(directory + "/speed", speed);
        write(directory + "/mtu", "9000");
        linkTo(directory + "/device", "sys/devices/" + hops);
        return this;
    }

    FakeHost virtualLink(String name, String flags) {
        String directory = "sys/class/net/" + name;
        write(directory + "/flags", flags);
        write(directory + "/operstate", "unknown");
        write(directory + "/speed", "-1");
        write(directory + "/mtu", "65536");
        return this;
    }

    /** A device with one active port of a RoCE v2 address and an accessible node. */
    FakeHost rdma(String name, String hops, int node) {
        pci(hops, node, NIC_CLASS, "0x15b3");
        linkTo("sys/class/infiniband/" + name + "/device", "sys/devices/" + hops);
        port(name, 1, "4: ACTIVE", "200 Gb/sec (4X HDR)", "0x0");
        gid(name, 1, 0, "fe80:0000:0000:0000:0a00:00ff:fe00:0001", "IB/RoCE v1");
        gid(name, 1, 1, "fe80:0000:0000:0000:0a00:00ff:fe00:0001", "RoCE v2");
        gid(name, 1, 3, "0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2");
        gid(name, 1, 4, "0000:0000:0000:0000:0000:0000:0000:0000", "RoCE v2");
        int number = uverbs++;
        write("sys/class/infiniband_verbs/uverbs" + number + "/ibdev", name);
        write("dev/infiniband/uverbs" + number, "");
        return this;
    }

    FakeHost port(String device, int number, String state, String rate, String lid) {
        String directory = "sys/class/infiniband/" + device + "/ports/" + number;
        write(directory + "/state", state);
        write(directory + "/rate", rate);
        write(directory + "/lid", lid);
        return this;
    }

    FakeHost gid(String device, int port, int index, String gid, String type) {
        String directory = "sys/class/infiniband/" + device + "/ports/" + port;
        write(directory + "/gids/" + index, gid);
        write(directory + "/gid_attrs/types/" + index, type);
        return this;
    }

    FakeHost gpu(String hops, int node, String vendor) {
        pci(hops, node, GPU_CLASS, vendor);
        return this;
    }

    FakeHost pci(String hops, int node, String type, String vendor) {
        String directory = "sys/devices/" + hops;
        write(directory + "/numa_node", Integer.toString(node));
        write(directory + "/class", type);
        write(directory + "/vendor", vendor);
        String address = hops.substring(hops.lastIndexOf('/') + 1);
        linkTo("sys/bus/pci/devices/" + address, directory);
        return this;
    }

    FakeHost write(String file, String text) {
        try {
            Path path = root.resolve(file);
            Files.createDirectories(path.getParent());
            Files.writeString(path, text + "\n");
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    FakeHost delete(String file) {
        try {
            Files.delete(root.resolve(file));
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void linkTo(String link, String target) {
        try {
            Path path = root.resolve(link);
            Files.createDirectories(path.getParent());
            if (!Files.exists(path)) {
                Files.createSymbolicLink(path, root.resolve(target));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Two sockets; per socket two switches with a GPU and a NIC each. */
    static FakeHost twoSockets(Path root) {
        FakeHost host = new FakeHost(root);
        host.node(0, "0-31,64-95", 256 << 20, "10 21").node(1, "32-63,96-127", 128 << 20, "21 10");
        for (int i = 0; i < 4; i++) {
            String bridge = "pci0000:%d0/0000:%d0:01.0/0000:%d1:00.0".formatted(i, i, i);
            host.gpu(bridge + "/0000:%d2:00.0".formatted(i), i / 2, "0x10de");
            host.rdma("mlx5_" + i, bridge + "/0000:%d3:00.0".formatted(i), i / 2);
        }
        return host;
    }

    HostTopology discover(Verbs verbs) {
        InterfaceAddresses addresses = name -> name.equals("lo") ? List.of("127.0.0.1") : List.of();
        return new HostProbe(paths(), addresses, java.util.Optional.of(verbs)).discover();
    }
}
