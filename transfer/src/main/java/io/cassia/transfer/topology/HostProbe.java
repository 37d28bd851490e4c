package io.cassia.transfer.topology;

import io.cassia.status.Outcome;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Looks at a Linux host (spec 8.2): sysfs, and libibverbs where it is installed. Immutable; each
 * call looks afresh, and takes some milliseconds.
 */
public final class HostProbe {
    private static final int IFF_UP = 0x1;
    private static final int IFF_LOOPBACK = 0x8;
    private static final Pattern NODE = Pattern.compile("node(\\d{1,5})");
    private static final Pattern KILOBYTES = Pattern.compile("(\\w+):\\s+(\\d{1,15}) kB");

    /** PCI classes of 3D controllers, VGA controllers with a known maker, and accelerators. */
    private static final List<String> ACCELERATOR_CLASSES = List.of("0x0300", "0x0302", "0x1200");

    /** Kind of location by PCI vendor. */
    private static final Map<String, String> MAKERS =
            Map.of("0x10de", "cuda", "0x1002", "hip", "0x19e5", "npu", "0x1ed5", "musa");

    private final HostPaths paths;
    private final InterfaceAddresses addresses;
    private final Optional<Verbs> verbs;

    /**
     * A probe of a host, or of a fabricated one.
     *
     * @param verbs libibverbs; without it no RDMA device is usable
     */
    public HostProbe(HostPaths paths, InterfaceAddresses addresses, Optional<Verbs> verbs) {
        this.paths = paths;
        this.addresses = addresses;
        this.verbs = verbs;
    }

    /** A probe of this machine. */
    public static HostProbe system() {
        return new HostProbe(HostPaths.system(), InterfaceAddresses.system(), Verbs.load());
    }

    /** Looks at the host. What is missing or unreadable is left out, and noted. */
    public HostTopology discover() {
        List<String> notes = new ArrayList<>();
        List<String> known = List.of();
        if (verbs.isPresent()) {
            switch (verbs.get().deviceNames()) {
                case Outcome.Ok<List<String>>(List<String> names) -> known = names;
                case Outcome.Failed<List<String>>(var _, String detail) -> notes.add(detail);
            }
        } else {
            notes.add("libibverbs is not installed");
        }
        List<RdmaDevice> devices = new RdmaProbe(paths, known).devices();
        return new HostTopology(numaNodes(), networkLinks(), devices, accelerators(), notes);
    }

    private List<NumaNode> numaNodes() {
        Path directory = paths.sys().resolve("devices/system/node");
        List<NumaNode> nodes = new ArrayList<>();
        for (String name : Sysfs.names(directory)) {
            Matcher matcher = NODE.matcher(name);
            if (matcher.matches()) {
                nodes.add(numaNode(Integer.parseInt(matcher.group(1)), directory.resolve(name)));
            }
        }
        if (nodes.isEmpty()) {
            // A kernel without NUMA: the machine is its only node.
            CpuSet cpus = cpus(paths.sys().resolve("devices/system/cpu/online"));
            Map<String, Long> memory = kilobytes(paths.proc().resolve("meminfo"));
            nodes.add(numaNode(0, cpus, memory, List.of()));
        }
        return nodes;
    }

    private static NumaNode numaNode(int id, Path directory) {
        List<Integer> distances = new ArrayList<>();
        for (String distance :
                Sysfs.text(directory.resolve("distance")).orElse("").split("\\s+", -1)) {
            if (distance.matches("\\d{1,5}")) {
                distances.add(Integer.parseInt(distance));
            }
        }
        return numaNode(
                id,
                cpus(directory.resolve("cpulist")),
                kilobytes(directory.resolve("meminfo")),
                distances);
    }

    private static NumaNode numaNode(
            int id, CpuSet cpus, Map<String, Long> kilobytes, List<Integer> distances) {
        return new NumaNode(
                id,
                cpus,
                kilobytes.getOrDefault("MemTotal", 0L) << 10,
                kilobytes.getOrDefault("MemFree", 0L) << 10,
                distances);
    }

    private static CpuSet cpus(Path list) {
        return Sysfs.text(list).flatMap(CpuSet::parse).orElse(CpuSet.EMPTY);
    }

    private static Map<String, Long> kilobytes(Path meminfo) {
        Map<String, Long> values = new HashMap<>();
        Matcher matcher = KILOBYTES.matcher(Sysfs.text(meminfo).orElse(""));
        while (matcher.find()) {
            values.put(matcher.group(1), Long.parseLong(matcher.group(2)));
        }
        return values;
    }

    /** The network interfaces, in the kernel's order: hardware before what was built upon it. */
    public List<NetworkLink> networkLinks() {
        Path directory = paths.sys().resolve("class/net");
        return Sysfs.names(directory).stream()
                .sorted(
                        Comparator.comparingLong(
                                name ->
                                        Sysfs.number(directory.resolve(name).resolve("ifindex"))
                                                .orElse(Long.MAX_VALUE)))
                .map(name -> networkLink(name, directory.resolve(name)))
                .toList();
    }

    private NetworkLink networkLink(String name, Path directory) {
        int flags = Sysfs.text(directory.resolve("flags")).map(HostProbe::hexadecimal).orElse(0);
        String state = Sysfs.text(directory.resolve("operstate")).orElse("unknown");
        // Loopback and some virtual links never leave "unknown": they work while they are on.
        boolean up = (flags & IFF_UP) != 0 && (state.equals("up") || state.equals("unknown"));
        OptionalLong speed = Sysfs.number(directory.resolve("speed"));
        boolean isSpeed =
                up
                        && speed.isPresent()
                        && speed.getAsLong() > 0
                        && speed.getAsLong() <= Integer.MAX_VALUE;
        Optional<PciPath.Function> function = PciPath.of(directory.resolve("device"));
        return new NetworkLink(
                name,
                up,
                (flags & IFF_LOOPBACK) != 0,
                isSpeed ? OptionalInt.of((int) speed.getAsLong()) : OptionalInt.empty(),
                Math.clamp(Sysfs.number(directory.resolve("mtu")).orElse(0), 0, 1 << 24),
                numaNode(function),
                function.map(found -> found.path().address()),
                addresses.of(name));
    }

    private static OptionalInt numaNode(Optional<PciPath.Function> function) {
        return function.map(found -> Sysfs.numaNode(found.directory())).orElse(OptionalInt.empty());
    }

    private static int hexadecimal(String text) {
        try {
            return Integer.decode(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private List<Accelerator> accelerators() {
        Path directory = paths.sys().resolve("bus/pci/devices");
        Map<String, Integer> counts = new HashMap<>();
        List<Accelerator> found = new ArrayList<>();
        // Addresses are of fixed width but for the domain, so their order is that of the text.
        for (String address : Sysfs.names(directory).stream().sorted().toList()) {
            Path device = directory.resolve(address);
            String type = Sysfs.text(device.resolve("class")).orElse("").toLowerCase(Locale.ROOT);
            String maker = Sysfs.text(device.resolve("vendor")).orElse("").toLowerCase(Locale.ROOT);
            String kind = MAKERS.get(maker);
            Optional<PciPath.Function> function = PciPath.of(device);
            if (kind != null
                    && function.isPresent()
                    && ACCELERATOR_CLASSES.stream().anyMatch(type::startsWith)) {
                int number = counts.merge(kind, 1, Integer::sum) - 1;
                found.add(
                        new Accelerator(
                                kind + ":" + number,
                                Sysfs.numaNode(function.get().directory()),
                                function.get().path()));
            }
        }
        return found;
    }
}
