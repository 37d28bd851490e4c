package io.cassia.transfer.topology;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where an engine has its priority matrix from (spec 8.1): its own arguments, else the file of
 * {@code MC_CUSTOM_TOPO_JSON}, else the host. Immutable.
 *
 * @param argument JSON text handed to the engine
 * @param file JSON file
 */
public record TopologySource(Optional<String> argument, Optional<Path> file) {
    /** The host alone. */
    public static final TopologySource HOST =
            new TopologySource(Optional.empty(), Optional.empty());

    /** That of a file, or of the host when there is none. */
    public static TopologySource of(Optional<Path> file) {
        return new TopologySource(Optional.empty(), file);
    }

    /**
     * The matrix. ERR_MALFORMED_JSON for bad text, ERR_INVALID_ARGUMENT when the file cannot be
     * read: a matrix that was asked for is never silently replaced by that of the host.
     */
    public Outcome<PriorityMatrix> resolve(HostTopology host, DeviceFilter filter) {
        if (argument.isPresent()) {
            return PriorityMatrix.parse(argument.get(), "the engine's arguments");
        }
        if (file.isPresent()) {
            return read(file.get()).then(text -> PriorityMatrix.parse(text, file.get().toString()));
        }
        return Outcome.ok(host.matrix(filter));
    }

    private static Outcome<String> read(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            // One byte more than allowed, so that the parser sees that it is too long.
            byte[] bytes = in.readNBytes(PriorityMatrix.MAX_TEXT_CHARS * 3 + 1);
            return Outcome.ok(new String(bytes, StandardCharsets.UTF_8));
        } catch (IOException e) {
            return Outcome.failed(
                    TransferCode.ERR_INVALID_ARGUMENT,
                    "topology file %s cannot be read: %s; it is named by MC_CUSTOM_TOPO_JSON"
                            .formatted(file, e));
        }
    }
}
