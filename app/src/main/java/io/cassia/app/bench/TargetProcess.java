package io.cassia.app.bench;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The other end in a process of its own, which ends with this one. Confined to its thread. */
public final class TargetProcess implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 10;

    private final Process process;
    private final BufferedReader out;
    private final String segment;

    private TargetProcess(Process process, BufferedReader out, String segment) {
        this.process = process;
        this.out = out;
        this.segment = segment;
    }

    /**
     * Starts this program once more and waits until it has told its segment as the first line.
     * ERR_CONTEXT when it does not start; what it says about that is shown on the error stream.
     */
    public static Outcome<TargetProcess> start(String mainClass, List<String> arguments) {
        return start("-XX:+UseSerialGC", mainClass, arguments);
    }

    /** The same for a process that works on its heap: with the collector that servers get. */
    public static Outcome<TargetProcess> startServer(String mainClass, List<String> arguments) {
        return start("-XX:+UseG1GC", mainClass, arguments);
    }

    private static Outcome<TargetProcess> start(
            String collector, String mainClass, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add(collector);
        command.add("-XX:+UseCompactObjectHeaders");
        command.add("--enable-native-access=ALL-UNNAMED");
        command.add("-cp");
        command.add(classPath());
        command.add(mainClass);
        command.addAll(arguments);
        try {
            Process process =
                    new ProcessBuilder(command)
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start();
            BufferedReader out = process.inputReader();
            String line = out.readLine();
            if (line != null) {
                return Outcome.ok(new TargetProcess(process, out, line));
            }
            process.destroy();
            return Outcome.failed(
                    TransferCode.ERR_CONTEXT, "the target's process ended before it was ready");
        } catch (IOException e) {
            return Outcome.failed(
                    TransferCode.ERR_CONTEXT, "the target's process does not start: " + e);
        }
    }

    /** Absolute, since the launcher may have a class path relative to itself. */
    private static String classPath() {
        List<String> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            entries.add(Path.of(entry).toAbsolutePath().toString());
        }
        return String.join(File.pathSeparator, entries);
    }

    /** The first line that it said. */
    public String segment() {
        return segment;
    }

    /** Says a line to it and answers its next one; empty when it has gone. */
    public Optional<String> ask(String line) {
        try {
            Writer in = process.outputWriter();
            in.write(line + "\n");
            in.flush();
            return Optional.ofNullable(out.readLine());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Processor time that it has used. */
    public long cpuNanos() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
    }

    /** Ends its input, with which it ends in order; whoever does not is ended. */
    @Override
    public void close() {
        try {
            process.outputWriter().close();
            if (process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                return;
            }
        } catch (IOException e) {
            // It has gone before.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.destroy();
    }
}
