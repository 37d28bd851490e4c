package io.cassia.gateways.rest;

import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;

/**
 * Which files of other programs requests may have lent (docs/adr/0063). Immutable. Whoever may ask
 * could else make the service lend, and write to, whatever its user may write to.
 *
 * @param directories in which they lie, at any depth; none: nothing is lent
 */
record LendableFiles(List<Path> directories) {
    static final Path SHARED_MEMORY = Path.of("/dev/shm");

    /** A file of shared memory, by its name there. INVALID_PARAMS when it is none. */
    Outcome<Path> named(String name) {
        if (name.isEmpty() || name.indexOf('/') >= 0 || name.equals(".") || name.equals("..")) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "\"name\" must name a file in " + SHARED_MEMORY + ", without a slash");
        }
        return at(SHARED_MEMORY + "/" + name);
    }

    /** A file by its path. INVALID_PARAMS when it is in none of the directories. */
    Outcome<Path> at(String text) {
        Path path;
        try {
            path = Path.of(text);
        } catch (InvalidPathException e) {
            return Outcome.failed(StoreCode.INVALID_PARAMS, "no path: " + e.getMessage());
        }
        Path parent = path.getParent();
        if (!path.isAbsolute() || parent == null || !path.equals(path.normalize())) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "'" + text + "' must be the absolute path of a file, without '.' and '..'");
        }
        // By its text first: of what is elsewhere not even the existence is told.
        if (directories.stream().noneMatch(parent::startsWith)) {
            return elsewhere(text);
        }
        try {
            Path real = parent.toRealPath();
            for (Path directory : directories) {
                if (Files.isDirectory(directory) && real.startsWith(directory.toRealPath())) {
                    return Outcome.ok(real.resolve(path.getFileName()));
                }
            }
            return elsewhere(text);
        } catch (IOException e) {
            return Outcome.failed(StoreCode.INVALID_PARAMS, "no such directory: " + e);
        }
    }

    private Outcome<Path> elsewhere(String text) {
        return Outcome.failed(
                StoreCode.INVALID_PARAMS,
                "'%s' is in none of the directories whose files this service lends: %s"
                        .formatted(text, directories));
    }
}
