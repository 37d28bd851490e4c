package io.cassia.transfer.topology;

import java.util.Objects;
import java.util.OptionalInt;

/**
 * A GPU or NPU. Immutable.
 *
 * @param location its name as a location of memory, {@code cuda:0}: numbered per kind in order of
 *     PCI address, which is CUDA's own order under {@code CUDA_DEVICE_ORDER=PCI_BUS_ID}
 * @param numaNode node next to it; absent when unknown
 * @param pci where it hangs
 */
public record Accelerator(String location, OptionalInt numaNode, PciPath pci) {
    public Accelerator {
        Objects.requireNonNull(location);
        Objects.requireNonNull(numaNode);
        Objects.requireNonNull(pci);
    }
}
