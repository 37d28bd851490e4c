package io.cassia.transfer.metadata;

import io.cassia.testkit.ServiceProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.function.Function;
import java.util.stream.Stream;

/** A server program with a directory in memory: its disk must not be what a test waits for. */
final class ProcessBackend implements MetadataStoreKit.Backend {
    final ServiceProcess process;
    private final Path directory;
    private final String scheme;

    ProcessBackend(String scheme, Function<Path, ServiceProcess> program) throws IOException {
        this.scheme = scheme;
        Path memory = Path.of("/dev/shm");
        this.directory =
                Files.isWritable(memory)
                        ? Files.createTempDirectory(memory, "metadata-test-")
                        : Files.createTempDirectory("metadata-test-");
        this.process = program.apply(directory).start();
    }

    @Override
    public String connection() {
        return scheme + "://" + process.address();
    }

    @Override
    public void kill() {
        process.kill();
    }

    @Override
    public void startEmpty() {
        process.restartEmpty();
    }

    @Override
    public void close() {
        process.close();
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
