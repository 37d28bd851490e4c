package io.cassia.transfer.handshake;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** JSON bodies of the handshake port but descriptors: compact, members sorted. Immutable. */
final class MessageCodec {
    /**
     * Answer to an RDMA-class connection set-up: what a TCP-only C++ engine sends, but with the
     * reason in {@code reply_msg}, which initiators show.
     */
    static final String NO_RDMA =
            "{\"local_gid\":\"\",\"local_lid\":0,\"local_nic_path\":\"\",\"payload\":\"\","
                    + "\"peer_nic_path\":\"\",\"qp_num\":[],\"reply_msg\":\"no RDMA transport\"}";

    static final String PROBE_SUCCESS = "{\"status\":\"success\"}";

    private static final String REPLY = "reply_msg";
    private static final int MAX_REFUSAL_BYTES = 4096;
    private static final String SUCCESS = "success";
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private MessageCodec() {}

    /** The JSON value of a payload; nothing when it is none. */
    static Optional<JsonNode> parse(byte[] payload, int offset) {
        try {
            JsonNode node = JSON.readTree(payload, offset, payload.length - offset);
            return node.isMissingNode() ? Optional.empty() : Optional.of(node);
        } catch (JacksonException e) {
            // The caller counts it; the text may be anything, so it is not kept.
            return Optional.empty();
        }
    }

    static String text(byte[] payload, int offset) {
        return new String(payload, offset, payload.length - offset, StandardCharsets.UTF_8);
    }

    static String notify(String name, String message) {
        return JSON.writeValueAsString(
                JsonNodeFactory.instance.objectNode().put("name", name).put("notify_msg", message));
    }

    /** What a receiver answers to a notification it has queued; empty message: not queued. */
    static String notifyReply(boolean queued) {
        return notify("", queued ? SUCCESS : "");
    }

    static String member(JsonNode node, String name) {
        JsonNode value = node.path(name);
        return value.isString() ? value.stringValue() : "";
    }

    /** What a peer gets that is not served, whatever it asked. */
    static String refusal(String why) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("local_gid", "").put("local_lid", 0).put("local_nic_path", "").put("name", "");
        root.put("notify_msg", "").put("payload", "").put("peer_nic_path", "");
        root.putArray("qp_num");
        return JSON.writeValueAsString(root.put(REPLY, why));
    }

    /** Why the peer refuses; nothing when it does not, or its answer is no JSON. */
    static Optional<String> refusal(byte[] payload, int offset) {
        // Descriptors are large and have no such member: they are not parsed twice for this.
        return payload.length > MAX_REFUSAL_BYTES
                ? Optional.empty()
                : parse(payload, offset)
                        .map(node -> member(node, REPLY))
                        .filter(reason -> !reason.isEmpty());
    }

    static boolean isProbeSuccess(JsonNode node) {
        return member(node, "status").equals(SUCCESS);
    }

    static boolean isNotifySuccess(JsonNode node) {
        return !member(node, "notify_msg").isEmpty();
    }
}
