package io.cassia.transfer.topology;

import java.nio.file.Path;
import java.util.Objects;

/**
 * Where the kernel shows the host. Immutable.
 *
 * @param sys root of sysfs
 * @param dev device nodes
 * @param proc root of procfs
 */
public record HostPaths(Path sys, Path dev, Path proc) {
    public HostPaths {
        Objects.requireNonNull(sys);
        Objects.requireNonNull(dev);
        Objects.requireNonNull(proc);
    }

    /** Those of this machine. */
    public static HostPaths system() {
        return under(Path.of("/"));
    }

    /** Those of a machine whose root file system is mounted, or fabricated, somewhere else. */
    public static HostPaths under(Path root) {
        return new HostPaths(root.resolve("sys"), root.resolve("dev"), root.resolve("proc"));
    }
}
