package io.cassia.testkit;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Recordings and specifications that lie beside the project but are no part of it. Immutable. The
 * folder is named by the system property {@code cassia.shared}; a test that needs a file which is
 * not there is skipped and says so.
 */
public final class SharedFiles {
    private SharedFiles() {}

    /** The file, or the test is skipped. */
    public static Path require(String relative) {
        Path file = Path.of(System.getProperty("cassia.shared", "shared")).resolve(relative);
        assumeTrue(Files.isRegularFile(file), () -> "skipped: no recording at " + file);
        return file;
    }

    /** The lines of the file, or the test is skipped. */
    public static List<String> requireLines(String relative) {
        try {
            return Files.readAllLines(require(relative));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
