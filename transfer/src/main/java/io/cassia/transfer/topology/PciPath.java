package io.cassia.transfer.topology;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The bridges from a root complex down to a PCI function. Immutable.
 *
 * @param hops names from the root ({@code pci0000:00}) to the function ({@code 0000:3b:00.0})
 */
public record PciPath(List<String> hops) {
    private static final Pattern ROOT = Pattern.compile("pci[0-9a-f]{4,8}:[0-9a-f]{2}");
    private static final Pattern FUNCTION =
            Pattern.compile("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");

    public PciPath {
        hops = List.copyOf(hops);
        if (hops.isEmpty()) {
            throw new IllegalArgumentException("a PCI path without hops");
        }
    }

    /** The function's address. */
    public String address() {
        return hops.getLast();
    }

    /**
     * Hops from one function up to the common bridge and down to the other. Functions of different
     * roots meet in the CPU's interconnect: that counts as one hop more than leaving both roots.
     */
    public int distance(PciPath other) {
        int common = 0;
        int shorter = Math.min(hops.size(), other.hops.size());
        while (common < shorter && hops.get(common).equals(other.hops.get(common))) {
            common++;
        }
        int apart = hops.size() + other.hops.size() - 2 * common;
        return common == 0 ? apart + 1 : apart;
    }

    /** A PCI function as sysfs shows it: where it hangs, and its directory. */
    record Function(PciPath path, Path directory) {}

    /**
     * The PCI function that a device's directory, or a link to it, belongs to. Devices behind a
     * driver of their own (virtio) lie deeper; the function is the last of the way that is one.
     */
    static Optional<Function> of(Path device) {
        Path real;
        try {
            real = device.toRealPath();
        } catch (IOException e) {
            // Virtual devices have no directory.
            return Optional.empty();
        }
        List<String> hops = new ArrayList<>();
        Path directory = real;
        Path walked = real.getRoot();
        for (Path element : real) {
            walked = walked.resolve(element);
            String name = element.toString();
            if (ROOT.matcher(name).matches()) {
                hops.clear();
                hops.add(name);
            } else if (FUNCTION.matcher(name).matches()) {
                hops.add(name);
                directory = walked;
            }
        }
        boolean found = !hops.isEmpty() && FUNCTION.matcher(hops.getLast()).matches();
        return found ? Optional.of(new Function(new PciPath(hops), directory)) : Optional.empty();
    }
}
