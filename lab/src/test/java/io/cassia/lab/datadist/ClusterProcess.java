package io.cassia.lab.datadist;

import io.cassia.datadist.link.ClusterInfo;
import io.cassia.datadist.link.LlmRole;
import io.cassia.testkit.Signals;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A {@link ClusterPeer} in a process of its own. Confined to one thread. Closing ends the process
 * by its id, whatever state it is in.
 */
final class ClusterProcess implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 60;
    private static final String GONE = "GONE the process has ended";

    private final long id;
    private final Process process;
    private final BufferedReader stdout;
    private final PrintWriter stdin;
    private final int port;

    private ClusterProcess(long id, Process process) {
        this.id = id;
        this.process = process;
        this.stdout = process.inputReader();
        this.stdin = new PrintWriter(process.outputWriter(), true);
        String ready = line();
        if (!ready.startsWith("ready ")) {
            throw new IllegalStateException("cluster " + id + ": " + ready);
        }
        this.port = Integer.parseInt(ready.substring("ready ".length()));
    }

    /** Starts a prompt; options are {@code key=value}. */
    static ClusterProcess prompt(long id, int port, String... options) throws IOException {
        List<String> all = new ArrayList<>(List.of(options));
        all.add("llm.ListenIpInfo=127.0.0.1:" + port);
        return start(id, LlmRole.PROMPT, all);
    }

    static ClusterProcess decoder(long id, String... options) throws IOException {
        return start(id, LlmRole.DECODER, List.of(options));
    }

    private static ClusterProcess start(long id, LlmRole role, List<String> options)
            throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "-Xshare:auto",
                                "-Xmx256m",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                ClusterPeer.class.getName(),
                                Long.toString(id),
                                role.name(),
                                "llm.DataHost=127.0.0.1"));
        command.addAll(options);
        Process process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        try {
            return new ClusterProcess(id, process);
        } catch (RuntimeException e) {
            process.destroyForcibly();
            throw e;
        }
    }

    private String line() {
        try {
            return CompletableFuture.supplyAsync(
                            this::readLine, task -> Thread.ofPlatform().daemon().start(task))
                    .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new IllegalStateException("cluster " + id + " does not answer", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private String readLine() {
        try {
            String line = stdout.readLine();
            return line == null ? GONE : line;
        } catch (IOException e) {
            // The stream of a process that is killed is closed while it is read.
            return GONE + ": " + e;
        }
    }

    long id() {
        return id;
    }

    int port() {
        return port;
    }

    ClusterInfo info() {
        return ClusterInfo.of(id, "127.0.0.1", port);
    }

    /** Says a line and answers the answer: a code, a blank, words. */
    String ask(String command) {
        stdin.println(command);
        return line();
    }

    /** An answer that has to be a success; what follows the code. */
    String askOk(String command) {
        String answer = ask(command);
        if (!answer.startsWith("SUCCESS")) {
            throw new AssertionError(command + ": " + answer);
        }
        return answer.substring("SUCCESS".length()).strip();
    }

    /** Allocates a cache and answers its number. */
    long allocate(String shapeAndKeys) {
        return Long.parseLong(askOk("allocate " + shapeAndKeys).substring("cache ".length()));
    }

    boolean isAlive() {
        return process.isAlive();
    }

    long pid() {
        return process.pid();
    }

    /** Asks it to end; its exit code. */
    int exit() throws InterruptedException {
        stdin.println("exit");
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("cluster " + id + " does not end");
        }
        return process.exitValue();
    }

    /** kill -9. */
    void kill() {
        Process _ = process.destroyForcibly().onExit().join();
    }

    /** SIGSTOP; on return every thread of the process has stopped. */
    void stop() {
        Signals.stop(process);
    }

    /** SIGCONT. */
    void resume() {
        Signals.resume(process);
    }

    /** Ends the process: asked first, so that nothing of it stays behind in shared memory. */
    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(5, TimeUnit.SECONDS)) {
                kill();
            }
        } catch (InterruptedException e) {
            kill();
            Thread.currentThread().interrupt();
        }
    }

    /** A port that was free a moment ago: options take no 0. */
    static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }
}
