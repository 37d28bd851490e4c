package io.cassia.master;

import io.cassia.base.ByteString;
import io.cassia.base.HumanSize;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * Immutable. The tenants' quotas in a YAML file, which is replaced as a whole: written beside,
 * synchronised, renamed (spec mooncake-store 9.2).
 *
 * <pre>
 * version: 1
 * tenants:
 *   - name: tenant-a
 *     quota: 10GB
 * </pre>
 */
final class TenantPolicyFile {
    private static final int VERSION = 1;

    private final Path path;

    TenantPolicyFile(Path path) {
        this.path = path;
    }

    /** FILE_NOT_FOUND when there is none, FILE_READ_FAIL, DESERIALIZE_FAIL when it is malformed. */
    Outcome<SequencedMap<ByteString, Long>> load() {
        String text;
        try {
            text = Files.readString(path);
        } catch (NoSuchFileException e) {
            return Outcome.failed(StoreCode.FILE_NOT_FOUND, "no tenant policy at " + path);
        } catch (IOException e) {
            return Outcome.failed(
                    StoreCode.FILE_READ_FAIL, "tenant policy " + path + ": " + e.getMessage());
        }
        try {
            return parse(new YAMLMapper().readTree(text));
        } catch (JacksonException e) {
            return malformed(e.getOriginalMessage());
        }
    }

    private Outcome<SequencedMap<ByteString, Long>> parse(JsonNode root) {
        if (root.path("version").asInt(0) != VERSION) {
            return malformed("version must be " + VERSION);
        }
        SequencedMap<ByteString, Long> quotas = new TreeMap<>();
        for (JsonNode tenant : root.path("tenants")) {
            String name = tenant.path("name").asString("");
            JsonNode quota = tenant.path("quota");
            long bytes;
            try {
                bytes =
                        quota.isIntegralNumber()
                                ? quota.longValue()
                                : HumanSize.parse(quota.asString(""));
            } catch (IllegalArgumentException e) {
                return malformed("tenant " + name + ": " + e.getMessage());
            }
            if (name.isEmpty() || quotas.put(ByteString.of(name), bytes) != null) {
                return malformed("a tenant has no name, or '" + name + "' is there twice");
            }
        }
        return Outcome.ok(quotas);
    }

    private <T> Outcome<T> malformed(String why) {
        return Outcome.failed(
                StoreCode.DESERIALIZE_FAIL, "tenant policy " + path + " is malformed: " + why);
    }

    /** PERSISTENT_FAIL leaves the old file. */
    Outcome<Done> save(Map<ByteString, Long> quotas) {
        StringBuilder yaml = new StringBuilder("version: " + VERSION + "\ntenants:");
        yaml.append(quotas.isEmpty() ? " []\n" : "\n");
        quotas.forEach(
                (name, bytes) ->
                        yaml.append("  - name: \"")
                                .append(name.text().replace("\\", "\\\\").replace("\"", "\\\""))
                                .append("\"\n    quota: ")
                                .append(bytes)
                                .append('\n'));
        Path fresh = path.resolveSibling(path.getFileName() + ".new");
        try {
            write(fresh, yaml.toString());
            Files.move(
                    fresh,
                    path,
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
            syncDirectory();
            return Outcome.done();
        } catch (IOException e) {
            return Outcome.failed(
                    StoreCode.PERSISTENT_FAIL,
                    "tenant policy " + path + " could not be saved: " + e);
        }
    }

    private static void write(Path file, String text) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        try (FileChannel channel =
                FileChannel.open(
                        file,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.TRUNCATE_EXISTING,
                        StandardOpenOption.WRITE)) {
            while (bytes.hasRemaining()) {
                int _ = channel.write(bytes);
            }
            channel.force(true);
        }
    }

    private void syncDirectory() throws IOException {
        Path directory = path.toAbsolutePath().getParent();
        if (directory != null) {
            try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
                channel.force(true);
            }
        }
    }
}
