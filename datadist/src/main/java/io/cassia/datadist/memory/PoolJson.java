package io.cassia.datadist.memory;

import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Immutable. Reads the JSON forms of pool configurations. */
public final class PoolJson {
    private static final JsonMapper MAPPER = JsonMapper.builder().build();
    private static final int MAX_CLASSES = 1024;

    private PoolJson() {}

    /**
     * {@code {"buf_pool_size": bytes, "buf_cfg": [{"total_size", "blk_size", "max_buf_size"}...]}},
     * one of the two at least. {@code LLM_PARAM_INVALID} naming the field.
     */
    public static Outcome<PoolConfig> bufPool(String json) {
        return object(json).then(PoolJson::bufPool);
    }

    /**
     * {@code {"memory_size": bytes, "page_shift": 10..30}}, the shift optional. {@code
     * LLM_PARAM_INVALID} naming the field.
     */
    public static Outcome<PoolConfig> memPool(String json) {
        return object(json)
                .then(
                        root ->
                                whole(root, "memory_size")
                                        .then(
                                                size ->
                                                        pageShift(root)
                                                                .then(
                                                                        shift ->
                                                                                PoolConfig.paged(
                                                                                        size,
                                                                                        shift))));
    }

    /** Whether the text is one JSON object; {@code LLM_PARAM_INVALID} with the parser's words. */
    public static Outcome<JsonNode> object(String json) {
        try {
            JsonNode root = MAPPER.readTree(json);
            return root.isObject() ? Outcome.ok(root) : invalid("is not a JSON object");
        } catch (JacksonException e) {
            return invalid("is not JSON: " + e.getOriginalMessage());
        }
    }

    private static Outcome<PoolConfig> bufPool(JsonNode root) {
        boolean sized = root.has("buf_pool_size");
        if (!sized && !root.has("buf_cfg")) {
            return invalid("has neither buf_pool_size nor buf_cfg");
        }
        Outcome<Long> size = sized ? whole(root, "buf_pool_size") : Outcome.ok(0L);
        return size.then(
                bytes -> {
                    if (!root.has("buf_cfg")) {
                        return PoolConfig.ofBytes(bytes);
                    }
                    if (sized && bytes < 1) {
                        return invalid("buf_pool_size " + bytes + " is not above 0");
                    }
                    return classes(root.get("buf_cfg"))
                            .then(classes -> PoolConfig.classes(bytes, classes));
                });
    }

    private static Outcome<List<SizeClass>> classes(JsonNode list) {
        if (!list.isArray() || list.isEmpty() || list.size() > MAX_CLASSES) {
            return invalid("buf_cfg is not a list of 1.." + MAX_CLASSES + " size classes");
        }
        List<SizeClass> classes = new ArrayList<>(list.size());
        for (JsonNode item : list) {
            Outcome<SizeClass> one =
                    whole(item, "total_size")
                            .then(
                                    total ->
                                            whole(item, "blk_size")
                                                    .then(
                                                            block ->
                                                                    whole(item, "max_buf_size")
                                                                            .map(
                                                                                    max ->
                                                                                            new SizeClass(
                                                                                                    total,
                                                                                                    block,
                                                                                                    max))));
            switch (one) {
                case Outcome.Ok<SizeClass>(SizeClass c) -> classes.add(c);
                case Outcome.Failed<SizeClass> failed -> {
                    return failed.in("buf_cfg[" + classes.size() + "]");
                }
            }
        }
        return Outcome.ok(classes);
    }

    private static Outcome<Integer> pageShift(JsonNode root) {
        return root.has("page_shift")
                ? whole(root, "page_shift").map(v -> (int) Math.min(v, Integer.MAX_VALUE))
                : Outcome.ok(PoolConfig.DEFAULT_PAGE_SHIFT);
    }

    /** A whole number from 0 to 2^63-1. */
    private static Outcome<Long> whole(JsonNode object, String field) {
        JsonNode value = object.get(field);
        if (value == null) {
            return invalid(field + " is missing");
        }
        if (!value.isIntegralNumber()) {
            return invalid(field + " is not a whole number: " + value);
        }
        BigInteger number = value.bigIntegerValue();
        return number.signum() < 0 || number.bitLength() > 63
                ? invalid(field + " is out of range: " + number)
                : Outcome.ok(number.longValue());
    }

    private static <T> Outcome<T> invalid(String detail) {
        return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, detail);
    }
}
