package io.cassia.master.http;

import io.cassia.base.ByteString;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A request, read whole. Immutable.
 *
 * @param body as text; empty when there is none
 */
record Request(QueryString query, String body) {
    /** Bodies are flat: lists in an object. */
    private static final int DEEPEST = 8;

    private static final JsonMapper MAPPER =
            new JsonMapper(
                    JsonFactory.builder()
                            .streamReadConstraints(
                                    StreamReadConstraints.builder()
                                            .maxNestingDepth(DEEPEST)
                                            .build())
                            .build());

    /** A parameter that must be there and not empty. */
    Outcome<ByteString> require(String name) {
        Optional<ByteString> value = query.find(name).filter(bytes -> !bytes.isEmpty());
        return value.<Outcome<ByteString>>map(Outcome::ok)
                .orElseGet(() -> invalid("the parameter " + name + " is missing"));
    }

    /** A tenant; the default one when none is named. */
    ByteString tenant() {
        return query.find("tenant_id").orElse(ByteString.EMPTY);
    }

    boolean flag(String name) {
        String text = query.find(name).map(ByteString::text).orElse("");
        return text.equals("true") || text.equals("1");
    }

    /** The body as an object. INVALID_PARAMS when it is none. */
    Outcome<JsonNode> json() {
        try {
            JsonNode node = MAPPER.readTree(body);
            return node.isObject() ? Outcome.ok(node) : invalid("the body is not a JSON object");
        } catch (JacksonException e) {
            return invalid("the body is not JSON: " + firstLine(e.getOriginalMessage()));
        }
    }

    /** A list of texts in a body; empty when there is no such member. */
    static Outcome<List<String>> texts(JsonNode body, String name) {
        JsonNode list = body.path(name);
        if (list.isMissingNode() || list.isNull()) {
            return Outcome.ok(List.of());
        }
        if (!list.isArray() || !list.valueStream().allMatch(JsonNode::isString)) {
            return invalid(name + " is not a list of strings");
        }
        return Outcome.ok(list.valueStream().map(JsonNode::asString).toList());
    }

    /** A whole number in a body; none when there is no such member. */
    static Outcome<OptionalLong> number(JsonNode body, String name) {
        JsonNode number = body.path(name);
        if (number.isMissingNode() || number.isNull()) {
            return Outcome.ok(OptionalLong.empty());
        }
        return number.isIntegralNumber() && number.canConvertToLong()
                ? Outcome.ok(OptionalLong.of(number.asLong()))
                : invalid(name + " is not a whole number below 2^63");
    }

    static <T> Outcome<T> invalid(String why) {
        return Outcome.failed(StoreCode.INVALID_PARAMS, why);
    }

    private static String firstLine(String text) {
        int end = text.indexOf('\n');
        return end < 0 ? text : text.substring(0, end);
    }
}
