package io.cassia.transfer.topology;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * An RDMA device (HCA). Immutable.
 *
 * @param name the kernel's and libibverbs' name, {@code mlx5_0}
 * @param numaNode node next to it; absent when unknown
 * @param pci where it hangs; absent for software devices
 * @param ports its ports
 * @param obstacle why it cannot be used; empty when it can
 */
public record RdmaDevice(
        String name,
        OptionalInt numaNode,
        Optional<PciPath> pci,
        List<Port> ports,
        Optional<String> obstacle) {
    /**
     * A port. Immutable.
     *
     * @param number from 1
     * @param active whether it carries traffic
     * @param speedGbps lanes times rate of a lane; 0 when unknown
     * @param lid address on InfiniBand, 0 on Ethernet
     * @param gidIndex index of the address that peers are told; -1 when it has none
     * @param gid that address, or empty
     */
    public record Port(
            int number, boolean active, int speedGbps, int lid, int gidIndex, String gid) {
        public Port {
            Objects.requireNonNull(gid);
        }

        /** Whether peers can be told an address of it. */
        public boolean isUsable() {
            return active && gidIndex >= 0;
        }
    }

    public RdmaDevice {
        Objects.requireNonNull(name);
        Objects.requireNonNull(numaNode);
        Objects.requireNonNull(pci);
        ports = List.copyOf(ports);
        Objects.requireNonNull(obstacle);
    }

    public boolean isUsable() {
        return obstacle.isEmpty();
    }

    /** The port that is used: the first usable one, else the first. */
    public Optional<Port> port() {
        return ports.stream()
                .filter(Port::isUsable)
                .findFirst()
                .or(() -> ports.stream().findFirst());
    }
}
