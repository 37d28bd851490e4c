package io.cassia.rpc.mooncake;

import io.cassia.base.ByteString;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.lang.reflect.RecordComponent;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Whether a decoded value is what a recording says: records and JSON objects are compared by
 * position, because field names are no part of the wire. Immutable.
 */
final class JsonComparison {
    private JsonComparison() {}

    /** Differences as {@code path: what}, empty if none. */
    static List<String> differences(Object value, JsonNode json) {
        List<String> differences = new ArrayList<>();
        compare(value, json, "", differences);
        return differences;
    }

    private static void compare(Object value, JsonNode json, String path, List<String> out) {
        switch (value) {
            case Outcome.Ok<?>(Object ok) -> compare(ok, member(json, "value"), path, out);
            case Outcome.Failed<?>(Code code, String _) ->
                    expect(code.number(), number(member(json, "error")), path, out);
            case Done _ -> expect(true, json.isNull(), path, out);
            case Optional<?> optional ->
                    absentOr(optional.isPresent() ? optional.get() : null, json, path, out);
            case OptionalLong optional ->
                    absentOr(
                            optional.isPresent() ? (Object) optional.getAsLong() : null,
                            json,
                            path,
                            out);
            case Uuid uuid -> expect(uuid.toString(), sole(json).asString(), path, out);
            case ByteString bytes -> expect(bytes.text(), sole(json).asString(), path, out);
            case String text -> expect(text, sole(json).asString(), path, out);
            case Boolean flag -> expect(flag, sole(json).asBoolean(), path, out);
            case Integer number -> expect((long) number, number(sole(json)), path, out);
            case Long number -> expect(number, number(sole(json)), path, out);
            case List<?> list -> compareList(list, sole(json), path, out);
            case Map<?, ?> map -> compareMap(map, json, path, out);
            case Placement placement -> comparePlacement(placement, json, path, out);
            case Record fields -> compareRecord(fields, json, path, out);
            default -> out.add(path + ": unknown " + value.getClass());
        }
    }

    private static void absentOr(
            @Nullable Object value, JsonNode json, String path, List<String> out) {
        if (value == null) {
            expect(true, json.isNull(), path, out);
        } else {
            compare(value, json, path, out);
        }
    }

    private static void compareList(List<?> list, JsonNode json, String path, List<String> out) {
        expect(list.size(), json.size(), path + ".size", out);
        for (int i = 0; i < Math.min(list.size(), json.size()); i++) {
            compare(list.get(i), json.get(i), path + "[" + i + "]", out);
        }
    }

    private static void compareMap(Map<?, ?> map, JsonNode json, String path, List<String> out) {
        expect(map.size(), json.size(), path + ".size", out);
        map.forEach((k, v) -> compare(v, member(json, k.toString()), path + "." + k, out));
    }

    private static void comparePlacement(
            Placement placement, JsonNode json, String path, List<String> out) {
        String alternative =
                switch (placement) {
                    case Placement.Memory _ -> "MemoryDescriptor";
                    case Placement.Nof _ -> "NoFDescriptor";
                    case Placement.Disk _ -> "DiskDescriptor";
                    case Placement.LocalDisk _ -> "LocalDiskDescriptor";
                    case Placement.Dfs _ -> "DistributedFSDescriptor";
                };
        compareRecord((Record) placement, member(json, alternative), path, out);
    }

    private static void compareRecord(Record value, JsonNode json, String path, List<String> out) {
        RecordComponent[] components = value.getClass().getRecordComponents();
        if (json.size() == 1 && components.length > 1) {
            // A struct of one member that Java does not mirror.
            compareRecord(value, sole(json), path, out);
            return;
        }
        expect(components.length, json.size(), path + " fields", out);
        List<JsonNode> members = new ArrayList<>(json.values());
        for (int i = 0; i < Math.min(components.length, members.size()); i++) {
            try {
                components[i].getAccessor().setAccessible(true);
                Object member = components[i].getAccessor().invoke(value);
                compare(member, members.get(i), path + "." + components[i].getName(), out);
            } catch (ReflectiveOperationException e) {
                throw new LinkageError("a record without accessors", e);
            }
        }
    }

    /** A single argument is recorded as an object with one member. */
    private static JsonNode sole(JsonNode json) {
        return json.isObject() && json.size() == 1 ? json.values().iterator().next() : json;
    }

    private static JsonNode member(JsonNode json, String name) {
        JsonNode member = json.get(name);
        if (member == null) {
            throw new AssertionError("no " + name + " in " + json);
        }
        return member;
    }

    /** A number, or the number in {@code NAME(number)}. */
    private static long number(JsonNode json) {
        String text = json.asString();
        if (text.endsWith(")")) {
            text = text.substring(text.lastIndexOf('(') + 1, text.length() - 1);
        }
        return new BigInteger(text).longValue();
    }

    private static void expect(Object actual, Object wanted, String path, List<String> out) {
        Object left = actual instanceof Integer number ? (Object) number.longValue() : actual;
        Object right = wanted instanceof Integer number ? (Object) number.longValue() : wanted;
        if (!left.equals(right)) {
            out.add(path + ": " + left + " instead of " + right);
        }
    }
}
