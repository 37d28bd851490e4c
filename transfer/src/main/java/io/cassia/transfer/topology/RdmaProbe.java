package io.cassia.transfer.topology;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Looks at RDMA devices in sysfs (spec 8.2). Immutable.
 *
 * @param paths where
 * @param known devices that libibverbs can open, in its order
 */
record RdmaProbe(HostPaths paths, List<String> known) {
    private static final int MAX_GIDS = 256;
    private static final Pattern RATE = Pattern.compile("(\\d{1,6})(?:\\.\\d+)? Gb/sec.*");
    private static final Pattern NO_GID = Pattern.compile("(fe80:)?[0:]*");

    /** Those of libibverbs first: their order numbers the devices. */
    List<RdmaDevice> devices() {
        Path directory = paths.sys().resolve("class/infiniband");
        Set<String> names = new LinkedHashSet<>(known);
        names.addAll(Sysfs.names(directory));
        return names.stream().map(name -> device(name, directory.resolve(name))).toList();
    }

    private RdmaDevice device(String name, Path directory) {
        Optional<PciPath.Function> function = PciPath.of(directory.resolve("device"));
        List<RdmaDevice.Port> ports = new ArrayList<>();
        Path portsDirectory = directory.resolve("ports");
        for (String port : Sysfs.names(portsDirectory)) {
            if (port.matches("[1-9]\\d{0,2}")) {
                ports.add(port(Integer.parseInt(port), portsDirectory.resolve(port)));
            }
        }
        OptionalInt node =
                function.map(found -> Sysfs.numaNode(found.directory()))
                        .orElse(OptionalInt.empty());
        return new RdmaDevice(
                name, node, function.map(PciPath.Function::path), ports, obstacle(name, ports));
    }

    private Optional<String> obstacle(String name, List<RdmaDevice.Port> ports) {
        if (!known.contains(name)) {
            return Optional.of("libibverbs does not know it");
        }
        Optional<Path> node = deviceNode(name);
        if (node.isEmpty()) {
            return Optional.of("it has no node in " + paths.dev().resolve("infiniband"));
        }
        if (!Files.isReadable(node.get()) || !Files.isWritable(node.get())) {
            return Optional.of(node.get() + " is not accessible");
        }
        if (ports.stream().noneMatch(RdmaDevice.Port::active)) {
            return Optional.of("no port is active");
        }
        if (ports.stream().noneMatch(RdmaDevice.Port::isUsable)) {
            return Optional.of("no active port has a GID");
        }
        return Optional.empty();
    }

    /** The {@code uverbs} node that the kernel says is this device's. */
    private Optional<Path> deviceNode(String name) {
        Path directory = paths.sys().resolve("class/infiniband_verbs");
        return Sysfs.names(directory).stream()
                .filter(
                        node ->
                                Sysfs.text(directory.resolve(node).resolve("ibdev"))
                                        .orElse("")
                                        .equals(name))
                .map(node -> paths.dev().resolve("infiniband").resolve(node))
                .findFirst();
    }

    private static RdmaDevice.Port port(int number, Path directory) {
        String state = Sysfs.text(directory.resolve("state")).orElse("");
        Matcher rate = RATE.matcher(Sysfs.text(directory.resolve("rate")).orElse(""));
        String lid = Sysfs.text(directory.resolve("lid")).orElse("0x0");
        int gidIndex = gidIndex(directory);
        return new RdmaDevice.Port(
                number,
                state.startsWith("4:"),
                rate.matches() ? Integer.parseInt(rate.group(1)) : 0,
                lid.matches("0x[0-9a-fA-F]{1,4}") ? Integer.decode(lid) : 0,
                gidIndex,
                gidIndex < 0 ? "" : gid(directory, gidIndex));
    }

    /**
     * The address that reaches furthest: RoCE v2 over IPv4, RoCE v2, else the first. Empty slots of
     * the table are skipped; their files hold zeros.
     */
    private static int gidIndex(Path port) {
        int best = -1;
        int bestRank = 0;
        for (String slot : Sysfs.names(port.resolve("gids"))) {
            if (!slot.matches("\\d{1,5}") || Integer.parseInt(slot) >= MAX_GIDS) {
                continue;
            }
            int index = Integer.parseInt(slot);
            String gid = gid(port, index);
            if (gid.isEmpty() || NO_GID.matcher(gid).matches()) {
                continue;
            }
            boolean routable =
                    Sysfs.text(port.resolve("gid_attrs/types").resolve(slot))
                            .orElse("")
                            .equals("RoCE v2");
            boolean ipv4 = gid.startsWith("0000:0000:0000:0000:0000:ffff:");
            int rank = routable ? (ipv4 ? 3 : 2) : 1;
            if (rank > bestRank) {
                best = index;
                bestRank = rank;
            }
        }
        return best;
    }

    private static String gid(Path port, int index) {
        return Sysfs.text(port.resolve("gids").resolve(Integer.toString(index))).orElse("");
    }
}
