package io.cassia.transfer.topology;

import java.util.List;
import java.util.Objects;

/**
 * One NUMA node. Immutable.
 *
 * @param id the kernel's number; numbers may have gaps
 * @param cpus its CPUs; none for a node of memory alone
 * @param memoryBytes its memory; 0 for a node of CPUs alone
 * @param freeBytes memory free when it was looked at
 * @param distances relative costs to all nodes in their order, 10 for itself; empty when unknown
 */
public record NumaNode(
        int id, CpuSet cpus, long memoryBytes, long freeBytes, List<Integer> distances) {
    public NumaNode {
        Objects.requireNonNull(cpus);
        distances = List.copyOf(distances);
        if (id < 0) {
            throw new IllegalArgumentException("NUMA node " + id);
        }
    }

    /** Its name as a location of memory: {@code cpu:<id>}. */
    public String location() {
        return Location.Cpu.PREFIX + id;
    }
}
