package io.cassia.lab.history;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where a client writes down what it does and sees, for {@link History#add}. Confined to it. */
final class HistoryLog implements AutoCloseable {
    private final int client;
    private final BufferedWriter log;
    private int sequence;

    HistoryLog(int client, Path file) throws IOException {
        this.client = client;
        this.log = Files.newBufferedWriter(file);
    }

    /** The version that the next change of this key writes; no other write of the run has it. */
    long nextVersion(int key) {
        return Content.version(key, client, sequence + 1);
    }

    /** A change begins; with version 0 it is a removal. Returns its number. */
    int begin(int key, long version) throws IOException {
        int change = ++sequence;
        line("B %d %d %d %d".formatted(change, System.nanoTime(), key, version));
        return change;
    }

    void end(int change, String outcome) throws IOException {
        line("E %d %d %s".formatted(change, System.nanoTime(), outcome));
    }

    /** A read is over; the version is of importance only when it went well. */
    void read(int key, long version, long startNanos, String outcome) throws IOException {
        line("R %d %d %d %d %s".formatted(key, version, startNanos, System.nanoTime(), outcome));
    }

    private void line(String line) throws IOException {
        log.write(line + "\n");
        log.flush();
    }

    @Override
    public void close() throws IOException {
        log.close();
    }
}
