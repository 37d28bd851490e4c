package io.cassia.transfer.topology;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.core.util.DefaultIndenter;
import tools.jackson.core.util.DefaultPrettyPrinter;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * What an engine is linked to, for people and for programs (spec 8.6): RDMA devices and the
 * priority matrix as upstream shows them, and Cassia's own sections of the host and its peers.
 * Immutable.
 *
 * @param host the host
 * @param matrix the matrix in use, which need not be the host's own
 * @param opened RDMA devices that the engine has open; of others only the topology is known
 * @param peers open segments of other engines
 */
public record LinkReport(
        HostTopology host, PriorityMatrix matrix, Set<String> opened, List<Peer> peers) {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    /**
     * A peer and how it stands with the way to it. Immutable.
     *
     * @param segment its name
     * @param transport what carries requests at the moment
     * @param endpoint host and data port, or its socket on this host; empty without a connection
     * @param state {@code attached} to its memory, or of its lanes: {@code unconnected}, {@code
     *     idle}, {@code busy}, {@code backing-off} after a failed connect, {@code closed}
     * @param idle connections that wait for work
     * @param busy connections that move bytes
     * @param lastFailure what was lost last, why, and how long ago; empty: nothing
     */
    public record Peer(
            String segment,
            String transport,
            String endpoint,
            String state,
            int idle,
            int busy,
            String lastFailure) {
        /** Open connections. */
        public int lanes() {
            return idle + busy;
        }
    }

    public LinkReport {
        opened = Set.copyOf(opened);
        peers = List.copyOf(peers);
    }

    /** The report of a host on which no engine runs. */
    public static LinkReport of(HostTopology host, PriorityMatrix matrix) {
        return new LinkReport(host, matrix, Set.of(), List.of());
    }

    private Optional<RdmaDevice> opened(String device) {
        return host.rdmaDevices().stream()
                .filter(found -> found.name().equals(device) && opened.contains(device))
                .findFirst();
    }

    /** Indented JSON; members {@code local_nics} and {@code topology} are upstream's. */
    public String toJson() {
        ObjectNode root = NODES.objectNode();
        root.set("host", hostTree());
        ArrayNode nics = root.putArray("local_nics");
        matrix.devices().forEach(device -> describe(device, nics.addObject()));
        ArrayNode peerList = root.putArray("peers");
        for (Peer peer : peers) {
            ObjectNode node = peerList.addObject();
            node.put("busy_lanes", peer.busy());
            node.put("endpoint", peer.endpoint());
            node.put("idle_lanes", peer.idle());
            node.put("lanes", peer.lanes());
            node.put("last_failure", peer.lastFailure());
            node.put("segment", peer.segment());
            node.put("state", peer.state());
            node.put("transport", peer.transport());
        }
        root.set("topology", matrix.toTree());
        DefaultIndenter indenter = new DefaultIndenter("  ", "\n");
        DefaultPrettyPrinter printer =
                new DefaultPrettyPrinter()
                        .withObjectIndenter(indenter)
                        .withArrayIndenter(DefaultPrettyPrinter.FixedSpaceIndenter.instance());
        return JsonMapper.builder().build().writer().with(printer).writeValueAsString(root) + "\n";
    }

    private void describe(String name, ObjectNode node) {
        Optional<RdmaDevice> device = opened(name);
        Optional<RdmaDevice.Port> port = device.flatMap(RdmaDevice::port);
        node.put("device", name);
        node.put("gid", port.map(RdmaDevice.Port::gid).orElse(""));
        node.put("gid_index", port.map(RdmaDevice.Port::gidIndex).orElse(-1));
        node.put("numa", device.map(found -> found.numaNode().orElse(-1)).orElse(-1));
        node.put("port", port.map(RdmaDevice.Port::number).orElse(0));
        node.put("source", device.isPresent() ? "rdma_transport" : "topology");
        node.put("speed_gbps", port.map(RdmaDevice.Port::speedGbps).orElse(0));
    }

    private ObjectNode hostTree() {
        ObjectNode root = NODES.objectNode();
        ArrayNode accelerators = root.putArray("accelerators");
        for (Accelerator accelerator : host.accelerators()) {
            ObjectNode node = accelerators.addObject();
            node.put("location", accelerator.location());
            node.put("numa", accelerator.numaNode().orElse(-1));
            node.put("pci", accelerator.pci().address());
        }
        ArrayNode links = root.putArray("network_links");
        for (NetworkLink link : host.networkLinks()) {
            ObjectNode node = links.addObject();
            link.addresses().forEach(node.putArray("addresses")::add);
            node.put("loopback", link.loopback());
            node.put("mtu_bytes", link.mtuBytes());
            node.put("name", link.name());
            node.put("numa", link.numaNode().orElse(-1));
            node.put("pci", link.pciAddress().orElse(""));
            node.put("speed_mbps", link.speedMbps().orElse(0));
            node.put("up", link.up());
        }
        host.notes().forEach(root.putArray("notes")::add);
        ArrayNode nodes = root.putArray("numa_nodes");
        for (NumaNode numaNode : host.numaNodes()) {
            ObjectNode node = nodes.addObject();
            node.put("cpus", numaNode.cpus().toString());
            numaNode.distances().forEach(node.putArray("distances")::add);
            node.put("free_bytes", numaNode.freeBytes());
            node.put("id", numaNode.id());
            node.put("memory_bytes", numaNode.memoryBytes());
        }
        ArrayNode unusable = root.putArray("unusable_devices");
        for (RdmaDevice device : host.rdmaDevices()) {
            device.obstacle()
                    .ifPresent(
                            why ->
                                    unusable.addObject()
                                            .put("device", device.name())
                                            .put("why", why));
        }
        return root;
    }

    /** Text for a terminal. */
    public String toText() {
        StringBuilder text = new StringBuilder("=== Local NICs ===\n");
        if (matrix.devices().isEmpty()) {
            text.append("  (no RDMA devices found)\n");
        } else if (opened.isEmpty()) {
            text.append("  (topology only; no RDMA transport is installed)\n");
        }
        for (String name : matrix.devices()) {
            text.append("  ").append(name);
            opened(name).ifPresent(device -> describe(device, text));
            text.append('\n');
        }
        for (RdmaDevice device : host.rdmaDevices()) {
            device.obstacle()
                    .ifPresent(
                            why ->
                                    text.append(
                                            "  %s unusable: %s\n".formatted(device.name(), why)));
        }
        text.append("\n=== Topology (NIC selection) ===\n");
        for (Map.Entry<String, PriorityMatrix.Entry> entry : matrix.entries().entrySet()) {
            text.append("  ").append(entry.getKey()).append(" -> preferred ");
            text.append(bracketed(entry.getValue().preferred())).append(" available ");
            text.append(bracketed(entry.getValue().others())).append('\n');
        }
        describeHost(text);
        text.append("\n=== Peers ===\n");
        if (peers.isEmpty()) {
            text.append("  (none)\n");
        }
        for (Peer peer : peers) {
            text.append("  %s by %s".formatted(peer.segment(), peer.transport()));
            if (!peer.endpoint().isEmpty()) {
                text.append(
                        " at %s lanes=%d busy=%d"
                                .formatted(peer.endpoint(), peer.lanes(), peer.busy()));
            }
            text.append(" state=").append(peer.state());
            if (!peer.lastFailure().isEmpty()) {
                text.append(" last failure: ").append(peer.lastFailure());
            }
            text.append('\n');
        }
        return text.toString();
    }

    private static void describe(RdmaDevice device, StringBuilder text) {
        text.append(" NUMA=").append(device.numaNode().orElse(-1));
        device.port()
                .ifPresent(
                        port ->
                                text.append(
                                        " GID=%s (idx=%d) Port=%d %dGbps"
                                                .formatted(
                                                        port.gid(),
                                                        port.gidIndex(),
                                                        port.number(),
                                                        port.speedGbps())));
    }

    private void describeHost(StringBuilder text) {
        text.append("\n=== Host ===\n");
        for (NumaNode node : host.numaNodes()) {
            text.append(
                    "  node %d CPUs=%s memory=%dMiB free=%dMiB\n"
                            .formatted(
                                    node.id(),
                                    node.cpus(),
                                    node.memoryBytes() >> 20,
                                    node.freeBytes() >> 20));
        }
        for (NetworkLink link : host.networkLinks()) {
            text.append("  ").append(link.name()).append(link.up() ? " up" : " down");
            link.speedMbps().ifPresent(speed -> text.append(' ').append(speed).append("Mbps"));
            link.numaNode().ifPresent(node -> text.append(" NUMA=").append(node));
            link.pciAddress().ifPresent(address -> text.append(" PCI=").append(address));
            text.append(' ').append(bracketed(link.addresses())).append('\n');
        }
        for (Accelerator accelerator : host.accelerators()) {
            text.append("  ").append(accelerator.location());
            accelerator.numaNode().ifPresent(node -> text.append(" NUMA=").append(node));
            text.append(" PCI=").append(accelerator.pci().address()).append('\n');
        }
        host.notes().forEach(note -> text.append("  note: ").append(note).append('\n'));
    }

    private static String bracketed(List<String> names) {
        return names.stream().collect(Collectors.joining(", ", "[", "]"));
    }
}
