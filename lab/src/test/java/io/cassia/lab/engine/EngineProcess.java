package io.cassia.lab.engine;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * An {@link EnginePeer} in a process of its own. Confined to its test. Closing ends the process by
 * its id, whatever state it is in.
 */
final class EngineProcess implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 60;

    private final Process process;
    private final BufferedReader stdout;
    private final PrintWriter stdin;
    private final String segment;
    private final long address;

    private EngineProcess(Process process) throws Exception {
        this.process = process;
        this.stdout = process.inputReader();
        this.stdin = new PrintWriter(process.outputWriter(), true);
        String[] ready = line().split(" ", -1);
        this.segment = ready[0];
        this.address = Long.parseUnsignedLong(ready[1]);
    }

    /** Starts it and waits until it is ready; ports 0 are any. */
    static EngineProcess start(long regionBytes, int rpcPort, int dataPort) throws Exception {
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "-Xshare:auto",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                EnginePeer.class.getName(),
                                Long.toString(regionBytes),
                                Integer.toString(rpcPort),
                                Integer.toString(dataPort))
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        try {
            return new EngineProcess(process);
        } catch (Exception e) {
            process.destroyForcibly();
            throw e;
        }
    }

    private String line() throws Exception {
        String line =
                CompletableFuture.supplyAsync(this::readLine)
                        .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (line.isEmpty()) {
            throw new IllegalStateException("the engine's process has ended");
        }
        return line;
    }

    private String readLine() {
        try {
            String line = stdout.readLine();
            return line == null ? "" : line;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    String segment() {
        return segment;
    }

    int rpcPort() {
        return Integer.parseInt(segment.substring(segment.lastIndexOf(':') + 1));
    }

    /** Published address of its memory. */
    long address() {
        return address;
    }

    /** Checksum of a part of its memory, computed over there. */
    long crc(long offset, long length) throws Exception {
        stdin.println("crc " + offset + " " + length);
        return Long.parseLong(line());
    }

    /** kill -9. */
    void kill() {
        Process _ = process.destroyForcibly().onExit().join();
    }

    /** SIGSTOP. */
    void stop() throws Exception {
        signal("STOP");
    }

    /** SIGCONT. */
    void resume() throws Exception {
        signal("CONT");
    }

    private void signal(String name) throws Exception {
        Process kill = new ProcessBuilder("kill", "-" + name, "" + process.pid()).start();
        if (kill.waitFor() != 0) {
            throw new IllegalStateException("kill -" + name + " " + process.pid() + " failed");
        }
    }

    @Override
    public void close() {
        kill();
    }
}
