package io.cassia.transfer.topology;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Which devices serve which memory: the "NIC priority matrix" that engines exchange (spec 8.1).
 * Immutable.
 *
 * <pre>  {"cpu:0":[["mlx5_0"],["mlx5_1"]],"cuda:0":[["mlx5_0"],["mlx5_1","mlx5_2"]]}
 *   location   preferred    others</pre>
 *
 * @param entries by location, in order of their bytes
 * @param devices all devices; a device's place here is its number, in which keys of registered
 *     memory are listed
 */
public record PriorityMatrix(Map<String, Entry> entries, List<String> devices) {
    /** A matrix of no locations. */
    public static final PriorityMatrix EMPTY = new PriorityMatrix(Map.of(), List.of());

    static final int MAX_TEXT_CHARS = 1 << 20;

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    /**
     * Devices for one location. Immutable.
     *
     * @param preferred close ones
     * @param others the rest, in the order they are tried
     */
    public record Entry(List<String> preferred, List<String> others) {
        public Entry {
            preferred = List.copyOf(preferred);
            others = List.copyOf(others);
        }

        /** Preferred first. */
        List<String> all() {
            List<String> all = new ArrayList<>(preferred);
            all.addAll(others);
            return all;
        }
    }

    public PriorityMatrix {
        entries = Collections.unmodifiableMap(new TreeMap<>(entries));
        devices = List.copyOf(devices);
        for (Entry entry : entries.values()) {
            if (!devices.containsAll(entry.all())) {
                throw new IllegalArgumentException(entry + " names a device not in " + devices);
            }
        }
    }

    /** A matrix whose devices are numbered as they come up, preferred before others. */
    static PriorityMatrix of(Map<String, Entry> entries) {
        return new PriorityMatrix(entries, namedIn(new TreeMap<>(entries).values()));
    }

    private static List<String> namedIn(Collection<Entry> entries) {
        LinkedHashSet<String> devices = new LinkedHashSet<>();
        entries.forEach(entry -> devices.addAll(entry.all()));
        return List.copyOf(devices);
    }

    /**
     * Reads the JSON form. ERR_MALFORMED_JSON when it is empty, above 1 MiB, no JSON object, or an
     * entry is not an array of exactly two arrays of device names.
     *
     * @param origin where the text is from, for the detail
     */
    public static Outcome<PriorityMatrix> parse(String text, String origin) {
        if (text.isBlank() || text.length() > MAX_TEXT_CHARS) {
            return malformed(origin, text.isBlank() ? "is empty" : text.length() + " characters");
        }
        JsonNode root;
        try {
            root = JSON.readTree(text);
        } catch (JacksonException e) {
            return malformed(origin, e.getOriginalMessage());
        }
        if (!root.isObject()) {
            return malformed(origin, "is no JSON object");
        }
        Map<String, Entry> entries = new TreeMap<>();
        for (Map.Entry<String, JsonNode> member : root.properties()) {
            JsonNode lists = member.getValue();
            Optional<List<String>> preferred = names(lists.path(0));
            Optional<List<String>> others = names(lists.path(1));
            if (!lists.isArray() || lists.size() != 2 || preferred.isEmpty() || others.isEmpty()) {
                return malformed(
                        origin,
                        "entry \"%s\" is not [[preferred names],[other names]]"
                                .formatted(member.getKey()));
            }
            entries.put(member.getKey(), new Entry(preferred.get(), others.get()));
        }
        return Outcome.ok(of(entries));
    }

    private static Optional<List<String>> names(JsonNode array) {
        List<String> names = new ArrayList<>();
        for (JsonNode item : array) {
            if (!item.isString() || item.stringValue().isEmpty()) {
                return Optional.empty();
            }
            names.add(item.stringValue());
        }
        return array.isArray() ? Optional.of(names) : Optional.empty();
    }

    private static Outcome<PriorityMatrix> malformed(String origin, String why) {
        return Outcome.failed(
                TransferCode.ERR_MALFORMED_JSON, "topology of " + origin + ": " + why);
    }

    /**
     * Devices for a location. The wildcard has an entry even when none is listed: all devices,
     * equally preferred.
     */
    public Optional<Entry> find(String location) {
        Entry listed = entries.get(location);
        if (listed == null && location.equals(Location.WILDCARD)) {
            return Optional.of(new Entry(devices, List.of()));
        }
        return Optional.ofNullable(listed);
    }

    /** The JSON form: compact, members in order of their bytes. */
    public String toJson() {
        return JSON.writeValueAsString(toTree());
    }

    ObjectNode toTree() {
        ObjectNode root = NODES.objectNode();
        entries.forEach(
                (location, entry) -> {
                    ArrayNode lists = root.putArray(location);
                    entry.preferred().forEach(lists.addArray()::add);
                    entry.others().forEach(lists.addArray()::add);
                });
        return root;
    }
}
