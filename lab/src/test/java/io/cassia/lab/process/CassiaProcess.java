package io.cassia.lab.process;

import io.cassia.testkit.Signals;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.StringTokenizer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * One {@code cassia} command in a process of its own, on this test's class path. Confined to its
 * test. Closing ends the process by its id, whatever state it is in.
 */
public final class CassiaProcess implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final JsonMapper JSON = JsonMapper.shared();

    private final Process process;
    private final BufferedReader stdout;
    private final Path stderr;

    private CassiaProcess(Process process, Path stderr) {
        this.process = process;
        this.stdout = process.inputReader();
        this.stderr = stderr;
    }

    /** What a command that ran to its end left. */
    public record Ended(int exit, String stdout, String stderr) {
        public JsonNode json() {
            return JSON.readTree(stdout);
        }
    }

    /** Starts a command and does not wait for anything. */
    public static CassiaProcess launch(String... arguments) throws IOException {
        return launch(Map.of(), arguments);
    }

    /** The same with more variables in its environment. */
    public static CassiaProcess launch(Map<String, String> variables, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:+UseSerialGC");
        command.add("-XX:TieredStopAtLevel=1");
        command.add("--enable-native-access=ALL-UNNAMED");
        command.add("-cp");
        command.add(classPath());
        command.add("io.cassia.app.Main");
        command.addAll(List.of(arguments));
        Path stderr = Files.createTempFile("cassia", ".stderr");
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(stderr.toFile());
        builder.environment().putAll(variables);
        Process process = builder.start();
        process.getOutputStream().close();
        return new CassiaProcess(process, stderr);
    }

    private static String classPath() {
        List<String> entries = new ArrayList<>();
        StringTokenizer all =
                new StringTokenizer(System.getProperty("java.class.path"), File.pathSeparator);
        while (all.hasMoreTokens()) {
            String entry = all.nextToken();
            if (!entry.contains("junit") && !entry.contains("test-classes")) {
                entries.add(entry);
            }
        }
        return String.join(File.pathSeparator, entries);
    }

    /** Runs a command to its end. */
    public static Ended run(String... arguments) throws Exception {
        return run(Map.of(), arguments);
    }

    /** The same with more variables in its environment. */
    public static Ended run(Map<String, String> variables, String... arguments) throws Exception {
        try (CassiaProcess process = launch(variables, arguments)) {
            return process.await(PATIENCE);
        }
    }

    /** The first line of output, as JSON: what a server prints when it is ready. */
    public JsonNode ready() throws Exception {
        CompletableFuture<String> line = CompletableFuture.supplyAsync(this::readLine);
        try {
            String text = line.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            if (text.isEmpty()) {
                throw new IllegalStateException("ended before it was ready: " + stderrText());
            }
            return JSON.readTree(text);
        } catch (TimeoutException e) {
            throw new IllegalStateException("not ready in time: " + stderrText(), e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    private String readLine() {
        try {
            String line = stdout.readLine();
            return line == null ? "" : line;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    public Ended await(Duration limit) throws Exception {
        CompletableFuture<String> rest = CompletableFuture.supplyAsync(this::readAll);
        if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("still running after " + limit + ": " + stderrText());
        }
        return new Ended(process.exitValue(), rest.get(10, TimeUnit.SECONDS), stderrText());
    }

    private String readAll() {
        try {
            StringBuilder text = new StringBuilder();
            char[] chunk = new char[8192];
            for (int n = stdout.read(chunk); n >= 0; n = stdout.read(chunk)) {
                text.append(chunk, 0, n);
            }
            return text.toString();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    public long pid() {
        return process.pid();
    }

    public String stderrText() throws IOException {
        return Files.readString(stderr);
    }

    /** kill -9. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor(10, TimeUnit.SECONDS);
    }

    /** SIGTERM, as an operator stops it; the exit code. */
    public int terminate() throws Exception {
        // The process's own destroy would close the output that is still to be read.
        process.toHandle().destroy();
        return await(PATIENCE).exit();
    }

    /** SIGSTOP; on return every thread of the process has stopped. */
    public void stop() {
        Signals.stop(process);
    }

    /** SIGCONT. */
    public void resume() {
        Signals.resume(process);
    }

    /** Ends the process: asked first, so that nothing of it stays behind in shared memory. */
    @Override
    public void close() throws IOException {
        process.destroy();
        try {
            if (!process.waitFor(5, TimeUnit.SECONDS)) {
                kill();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        Files.deleteIfExists(stderr);
    }
}
