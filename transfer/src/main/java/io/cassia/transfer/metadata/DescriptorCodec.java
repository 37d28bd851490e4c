package io.cassia.transfer.metadata;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.math.BigInteger;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * JSON of the metadata: members sorted by name, compact (spec 5.3). Immutable.
 *
 * <pre>
 *   {"buffers":[{"addr":A,"length":L,"name":N},...],"incarnation":I,"name":N,"protocol":"tcp",
 *    "tcp_data_port":P,"tcp_proto_version":2,"timestamp":"YYYY-MM-DD HH:MM:SS.uuuuuu"}
 *   {"incarnation":I,"ip_or_host_name":H,"rpc_port":P}
 *
 *   after the buffers, when the owner offers it:
 *   "cassia_host":{"boot":B,"control":C,"pid_namespace":N,"proof":X,"transports":[...],"user":U}
 * </pre>
 *
 * Addresses and lengths are unsigned 64-bit decimals and never pass through a double or a signed
 * parse. Unknown members are ignored, so both sides can be extended.
 */
public final class DescriptorCodec {
    private static final String HOST = "cassia_host";
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final DateTimeFormatter TIMESTAMP =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS");

    private DescriptorCodec() {}

    /** Text of a descriptor, without the newline that handshake frames end with. */
    public static String encode(SegmentDescriptor descriptor, String timestamp) {
        ArrayNode buffers = NODES.arrayNode();
        for (SegmentDescriptor.Buffer buffer : descriptor.buffers()) {
            ObjectNode node = buffers.addObject();
            putUnsigned(node, "addr", buffer.address());
            putUnsigned(node, "length", buffer.lengthBytes());
            node.put("name", buffer.name());
        }
        ObjectNode root = NODES.objectNode();
        root.set("buffers", buffers);
        descriptor.host().ifPresent(host -> put(host, root.putObject(HOST)));
        descriptor.incarnation().ifPresent(value -> putUnsigned(root, "incarnation", value));
        root.put("name", descriptor.name());
        if (descriptor.protocols().size() == 1) {
            root.put("protocol", descriptor.protocols().getFirst());
        } else {
            ArrayNode protocols = root.putArray("protocol");
            descriptor.protocols().forEach(protocols::add);
        }
        root.put("tcp_data_port", descriptor.tcpDataPort());
        root.put("tcp_proto_version", descriptor.tcpProtoVersion());
        root.put("timestamp", timestamp);
        return JSON.writeValueAsString(root);
    }

    private static void put(HostAccess host, ObjectNode node) {
        node.put("boot", host.boot());
        node.put("control", host.control());
        node.put("pid_namespace", host.pidNamespace());
        node.put("proof", host.proof());
        ArrayNode transports = node.putArray("transports");
        host.transports().forEach(transports::add);
        node.put("user", host.user());
    }

    private static void putUnsigned(ObjectNode node, String member, long value) {
        if (value >= 0) {
            node.put(member, value);
        } else {
            node.put(member, new BigInteger(Long.toUnsignedString(value)));
        }
    }

    /** Local time as it stands in descriptors; informational. */
    public static String timestamp(long epochMillis) {
        return TIMESTAMP.format(
                Instant.ofEpochMilli(epochMillis).atZone(ZoneId.systemDefault()).toLocalDateTime());
    }

    /**
     * Reads a descriptor. ERR_MALFORMED_JSON when the text is no JSON; ERR_METADATA when it is
     * {@code null} (the owner has none yet), or a buffer has no name, address or length: one such
     * buffer voids the whole, as upstream does it.
     *
     * @param origin whose it is, for the detail
     */
    public static Outcome<SegmentDescriptor> decode(String text, String origin) {
        JsonNode root;
        try {
            root = JSON.readTree(text);
        } catch (JacksonException e) {
            return malformed(origin, e.getOriginalMessage());
        }
        if (root.isMissingNode()) {
            return malformed(origin, "no text");
        }
        if (!root.isObject()) {
            return metadata(origin, "has no segment descriptor (answered " + kind(root) + ")");
        }
        String name = text(root, "name");
        List<String> protocols = protocols(root.path("protocol"));
        if (name.isEmpty() || protocols.isEmpty()) {
            return metadata(origin, "descriptor without name or protocol");
        }
        OptionalLong port = unsigned(root.path("tcp_data_port"));
        OptionalLong version = unsigned(root.path("tcp_proto_version"));
        if (port.isPresent() && (port.getAsLong() < 0 || port.getAsLong() > 65535)) {
            return metadata(origin, "tcp_data_port " + root.path("tcp_data_port"));
        }
        List<SegmentDescriptor.Buffer> buffers = new ArrayList<>();
        if (protocols.contains(SegmentDescriptor.TCP)) {
            for (JsonNode node : root.path("buffers")) {
                SegmentDescriptor.Buffer buffer = buffer(node);
                if (buffer.name().isEmpty() || buffer.address() == 0 || buffer.lengthBytes() == 0) {
                    return metadata(origin, "buffer without name, addr or length: " + buffer);
                }
                buffers.add(buffer);
            }
        }
        // A version above all integers is still "2 or later".
        long known = version.orElse(1);
        int clamped = known < 0 || known > Integer.MAX_VALUE ? Integer.MAX_VALUE : (int) known;
        return Outcome.ok(
                new SegmentDescriptor(
                        name,
                        protocols,
                        (int) port.orElse(0),
                        clamped,
                        buffers,
                        unsigned(root.path("incarnation")),
                        host(root.path(HOST))));
    }

    /** An extension: whatever is wrong with it, the descriptor is good without. */
    private static Optional<HostAccess> host(JsonNode node) {
        OptionalLong user = unsigned(node.path("user"));
        OptionalLong pidNamespace = unsigned(node.path("pid_namespace"));
        if (user.isEmpty() || pidNamespace.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(
                new HostAccess(
                        text(node, "boot"),
                        user.getAsLong(),
                        pidNamespace.getAsLong(),
                        text(node, "control"),
                        texts(node.path("transports")),
                        text(node, "proof")));
    }

    private static SegmentDescriptor.Buffer buffer(JsonNode node) {
        return new SegmentDescriptor.Buffer(
                text(node, "name"),
                unsigned(node.path("addr")).orElse(0),
                unsigned(node.path("length")).orElse(0));
    }

    private static List<String> protocols(JsonNode node) {
        if (node.isString()) {
            return node.stringValue().isEmpty() ? List.of() : List.of(node.stringValue());
        }
        return texts(node);
    }

    private static List<String> texts(JsonNode node) {
        List<String> texts = new ArrayList<>();
        for (JsonNode item : node) {
            if (item.isString()) {
                texts.add(item.stringValue());
            }
        }
        return texts;
    }

    /** Text of an endpoint. */
    public static String encode(RpcMeta meta) {
        ObjectNode root = NODES.objectNode();
        meta.incarnation().ifPresent(value -> root.put("incarnation", value));
        root.put("ip_or_host_name", meta.host());
        root.put("rpc_port", meta.rpcPort());
        return JSON.writeValueAsString(root);
    }

    /** Reads an endpoint; ERR_MALFORMED_JSON, or ERR_METADATA when a member is missing. */
    public static Outcome<RpcMeta> decodeRpcMeta(String text, String origin) {
        JsonNode root;
        try {
            root = JSON.readTree(text);
        } catch (JacksonException e) {
            return malformed(origin, e.getOriginalMessage());
        }
        String host = text(root, "ip_or_host_name");
        long port = unsigned(root.path("rpc_port")).orElse(-1);
        if (host.isEmpty() || port < 1 || port > 65535) {
            return metadata(origin, "rpc_meta without ip_or_host_name or rpc_port");
        }
        return Outcome.ok(new RpcMeta(host, (int) port, unsigned(root.path("incarnation"))));
    }

    private static String text(JsonNode node, String member) {
        JsonNode value = node.path(member);
        return value.isString() ? value.stringValue() : "";
    }

    /** An integer of 0 to 2^64-1 as its 64 bits; anything else, fractions too, is absent. */
    private static OptionalLong unsigned(JsonNode node) {
        if (!node.isIntegralNumber()) {
            return OptionalLong.empty();
        }
        BigInteger value = node.bigIntegerValue();
        return value.signum() < 0 || value.bitLength() > 64
                ? OptionalLong.empty()
                : OptionalLong.of(value.longValue());
    }

    private static String kind(JsonNode node) {
        return node.getNodeType().toString().toLowerCase(java.util.Locale.ROOT);
    }

    private static <T> Outcome<T> malformed(String origin, String why) {
        return Outcome.failed(TransferCode.ERR_MALFORMED_JSON, origin + ": " + why);
    }

    private static <T> Outcome<T> metadata(String origin, String why) {
        return Outcome.failed(TransferCode.ERR_METADATA, origin + ": " + why);
    }
}
