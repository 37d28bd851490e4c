package io.cassia.transfer.topology;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * What a host is made of, as it was when it was looked at. Immutable.
 *
 * @param numaNodes at least one
 * @param networkLinks its network interfaces
 * @param rdmaDevices its RDMA devices, those that cannot be used too
 * @param accelerators its GPUs and NPUs
 * @param notes what could not be looked at, and why
 */
public record HostTopology(
        List<NumaNode> numaNodes,
        List<NetworkLink> networkLinks,
        List<RdmaDevice> rdmaDevices,
        List<Accelerator> accelerators,
        List<String> notes) {
    public HostTopology {
        numaNodes = List.copyOf(numaNodes);
        networkLinks = List.copyOf(networkLinks);
        rdmaDevices = List.copyOf(rdmaDevices);
        accelerators = List.copyOf(accelerators);
        notes = List.copyOf(notes);
        if (numaNodes.isEmpty()) {
            throw new IllegalArgumentException("a host without a NUMA node");
        }
    }

    /** RDMA devices that can be used and that the filter allows. */
    public List<RdmaDevice> usableDevices(DeviceFilter filter) {
        return rdmaDevices.stream()
                .filter(RdmaDevice::isUsable)
                .filter(device -> filter.allows(device.name()))
                .toList();
    }

    /**
     * As {@link #usableDevices}, for somebody who cannot do without: ERR_DEVICE_NOT_FOUND tells of
     * each device of the host why it does not serve.
     */
    public Outcome<List<RdmaDevice>> requireDevices(DeviceFilter filter) {
        List<RdmaDevice> usable = usableDevices(filter);
        if (!usable.isEmpty()) {
            return Outcome.ok(usable);
        }
        String found =
                rdmaDevices.isEmpty()
                        ? "this host has none"
                        : rdmaDevices.stream()
                                .map(device -> device.name() + ": " + refusal(device))
                                .collect(Collectors.joining("; "));
        String more = notes.isEmpty() ? "" : " (" + String.join("; ", notes) + ")";
        return Outcome.failed(
                TransferCode.ERR_DEVICE_NOT_FOUND,
                "protocol rdma needs an RDMA device; " + found + more + "; use protocol tcp");
    }

    private static String refusal(RdmaDevice device) {
        return device.obstacle().orElse("is not among the allowed devices");
    }

    /**
     * Which device serves which memory (spec 8.2): memory of a node prefers the devices of that
     * node, memory of an accelerator those that are the fewest PCI hops away, of its own node where
     * there are any. All lists are empty on a host without a usable device.
     */
    public PriorityMatrix matrix(DeviceFilter filter) {
        List<RdmaDevice> usable = usableDevices(filter);
        Map<String, PriorityMatrix.Entry> entries = new TreeMap<>();
        for (NumaNode node : numaNodes) {
            OptionalInt id = OptionalInt.of(node.id());
            entries.put(node.location(), split(usable, device -> device.numaNode().equals(id)));
        }
        for (Accelerator accelerator : accelerators) {
            List<RdmaDevice> close = closest(accelerator, usable);
            entries.put(accelerator.location(), split(usable, close::contains));
        }
        return new PriorityMatrix(entries, usable.stream().map(RdmaDevice::name).toList());
    }

    private static List<RdmaDevice> closest(Accelerator accelerator, List<RdmaDevice> usable) {
        List<RdmaDevice> sameNode =
                usable.stream()
                        .filter(device -> accelerator.numaNode().isPresent())
                        .filter(device -> device.numaNode().equals(accelerator.numaNode()))
                        .toList();
        List<RdmaDevice> candidates = sameNode.isEmpty() ? usable : sameNode;
        int least =
                candidates.stream()
                        .mapToInt(device -> hops(accelerator, device))
                        .min()
                        .orElse(Integer.MAX_VALUE);
        return candidates.stream().filter(device -> hops(accelerator, device) == least).toList();
    }

    private static int hops(Accelerator accelerator, RdmaDevice device) {
        return device.pci().map(accelerator.pci()::distance).orElse(Integer.MAX_VALUE);
    }

    private static PriorityMatrix.Entry split(
            List<RdmaDevice> devices, Predicate<RdmaDevice> isPreferred) {
        List<String> preferred = new ArrayList<>();
        List<String> others = new ArrayList<>();
        for (RdmaDevice device : devices) {
            (isPreferred.test(device) ? preferred : others).add(device.name());
        }
        return new PriorityMatrix.Entry(preferred, others);
    }
}
