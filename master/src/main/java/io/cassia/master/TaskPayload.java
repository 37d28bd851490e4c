package io.cassia.master;

import io.cassia.base.ByteString;
import io.cassia.master.core.TaskOrder;
import io.cassia.rpc.mooncake.TaskAssignment;
import java.util.HexFormat;
import java.util.List;

/**
 * The JSON text in which a task travels to its client, as upstream writes it (recorded). Immutable.
 * A key that is not UTF-8 has its bytes in {@code cassia_key_hex} too.
 */
final class TaskPayload {
    private TaskPayload() {}

    static TaskAssignment assignment(TaskOrder order) {
        return new TaskAssignment(
                order.id(),
                order.move() ? 1 : 0,
                order.move() ? move(order) : copy(order),
                order.createdAtMs(),
                order.maxRetryAttempts());
    }

    private static String copy(TaskOrder order) {
        StringBuilder json = start(order);
        json.append(",\"targets\":");
        strings(json, order.targets());
        return json.append(",\"dynamic_replication_lease_id_high\":0")
                .append(",\"dynamic_replication_lease_id_low\":0")
                .append(",\"dynamic_replication_version_epoch\":0}")
                .toString();
    }

    private static String move(TaskOrder order) {
        StringBuilder json = start(order);
        json.append(",\"target\":");
        string(json, order.targets().getFirst());
        return json.append('}').toString();
    }

    private static StringBuilder start(TaskOrder order) {
        StringBuilder json = new StringBuilder(160).append("{\"tenant_id\":");
        string(json, order.tenant().text());
        json.append(",\"key\":");
        string(json, order.key().text());
        if (!ByteString.of(order.key().text()).equals(order.key())) {
            json.append(",\"cassia_key_hex\":\"")
                    .append(HexFormat.of().formatHex(order.key().array()))
                    .append('"');
        }
        json.append(",\"source\":");
        string(json, order.source());
        return json;
    }

    private static void strings(StringBuilder json, List<String> texts) {
        json.append('[');
        for (int i = 0; i < texts.size(); i++) {
            json.append(i == 0 ? "" : ",");
            string(json, texts.get(i));
        }
        json.append(']');
    }

    private static void string(StringBuilder json, String text) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char symbol = text.charAt(i);
            switch (symbol) {
                case '"' -> json.append("\\\"");
                case '\\' -> json.append("\\\\");
                case '\n' -> json.append("\\n");
                case '\r' -> json.append("\\r");
                case '\t' -> json.append("\\t");
                default -> {
                    if (symbol < 0x20) {
                        json.append("\\u00").append(HexFormat.of().toHexDigits((byte) symbol));
                    } else {
                        json.append(symbol);
                    }
                }
            }
        }
        json.append('"');
    }
}
