package io.cassia.testkit;

import java.util.HexFormat;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * One recorded call: the bytes of request and response as they crossed the wire, and what they
 * mean. Immutable.
 *
 * @param method short name, or {@code (protocol)} for an edge case of the framing
 * @param variant what was special about the call
 * @param request header and body
 * @param requestBody body alone
 * @param response header and body; empty when there was none
 * @param responseBody body alone
 * @param arguments field names and values of the request
 * @param answer error, type and result of the response
 * @param source {@code client} for upstream's own client, {@code raw} for a hand-made request
 */
@SuppressWarnings("ArrayRecordComponent") // Test data, compared by nobody.
public record RpcVector(
        String method,
        String variant,
        byte[] request,
        byte[] requestBody,
        byte[] response,
        byte[] responseBody,
        JsonNode arguments,
        JsonNode answer,
        String source) {
    /** All recorded calls, or the test is skipped. */
    public static List<RpcVector> requireAll() {
        JsonMapper json = new JsonMapper();
        return SharedFiles.requireLines("wire/rpc-vectors.jsonl").stream()
                .map(line -> of(json.readTree(line)))
                .toList();
    }

    private static RpcVector of(JsonNode line) {
        return new RpcVector(
                line.get("method").asString(),
                line.get("variant").asString(),
                bytes(line, "request_header_hex", "request_body_hex"),
                bytes(line, "request_body_hex"),
                bytes(line, "response_header_hex", "response_body_hex"),
                bytes(line, "response_body_hex"),
                line.get("request_decoded"),
                line.get("response_decoded"),
                line.get("source").asString());
    }

    private static byte[] bytes(JsonNode line, String... members) {
        StringBuilder hex = new StringBuilder();
        for (String member : members) {
            hex.append(line.get(member).asString());
        }
        return HexFormat.of().parseHex(hex);
    }

    /** {@code ExistKey: missing key}. */
    @Override
    public String toString() {
        return method + ": " + variant;
    }
}
