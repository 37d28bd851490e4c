package io.cassia.base.config;

import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * Reads files of settings: one YAML or JSON object whose members are texts, numbers and booleans.
 * Immutable.
 */
public final class ConfigurationFile {
    private static final long LONGEST = 1 << 20;

    private ConfigurationFile() {}

    /**
     * The members of a file by name; members that are null are left out. It is JSON when its name
     * ends in {@code .json}, else YAML, of which JSON is a part. FILE_NOT_FOUND and FILE_READ_FAIL
     * are of the file, INVALID_PARAMS of what it says, with line and column.
     */
    public static Outcome<Map<String, String>> read(Path path) {
        try {
            long size = Files.size(path);
            if (size > LONGEST) {
                return Outcome.failed(
                        StoreCode.INVALID_PARAMS,
                        "%s has %d bytes; a configuration file has at most %d"
                                .formatted(path, size, LONGEST));
            }
            return parse(path, Files.readString(path));
        } catch (NoSuchFileException e) {
            return Outcome.failed(
                    StoreCode.FILE_NOT_FOUND, "configuration file " + path + ": no such file");
        } catch (IOException e) {
            return Outcome.failed(
                    StoreCode.FILE_READ_FAIL, "configuration file " + path + ": " + e);
        }
    }

    private static Outcome<Map<String, String>> parse(Path path, String text) {
        if (text.isBlank()) {
            return Outcome.ok(Map.of());
        }
        JsonNode root;
        try {
            root = mapper(path).readTree(text);
        } catch (JacksonException e) {
            TokenStreamLocation at = e.getLocation();
            String where =
                    at == null
                            ? ""
                            : " line %d column %d".formatted(at.getLineNr(), at.getColumnNr());
            return invalid(path + where + ": " + firstLine(e.getOriginalMessage()));
        }
        if (root.isMissingNode() || root.isNull()) {
            return Outcome.ok(Map.of()); // Nothing but comments.
        }
        if (!root.isObject()) {
            return invalid(path + ": it is one object with a member per setting");
        }
        Map<String, String> members = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> member : root.properties()) {
            JsonNode value = member.getValue();
            if (value.isContainer()) {
                return invalid(
                        path + ": " + member.getKey() + " holds a structure; settings are flat");
            }
            if (!value.isNull()) {
                members.put(member.getKey(), value.asString());
            }
        }
        return Outcome.ok(members);
    }

    private static ObjectMapper mapper(Path path) {
        boolean json = path.toString().toLowerCase(Locale.ROOT).endsWith(".json");
        return json
                ? JsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build()
                : YAMLMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();
    }

    private static String firstLine(String text) {
        int end = text.indexOf('\n');
        return end < 0 ? text : text.substring(0, end);
    }

    private static Outcome<Map<String, String>> invalid(String why) {
        return Outcome.failed(StoreCode.INVALID_PARAMS, why);
    }
}
