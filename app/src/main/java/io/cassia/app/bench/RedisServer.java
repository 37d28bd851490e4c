package io.cassia.app.bench;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A Redis server of this run on a free loopback port, and redis-benchmark as its client: what is
 * known to be fast on any machine. Confined to its thread. It keeps nothing on disk and ends with
 * this process.
 */
public final class RedisServer implements AutoCloseable {
    private static final String SERVER = "redis-server";
    private static final String BENCHMARK = "redis-benchmark";
    private static final int CONNECT_MILLIS = 200;
    private static final int ATTEMPTS = 50;

    private final Process server;
    private final int port;
    private final Path benchmark;
    private final Thread atExit;

    private RedisServer(Process server, int port, Path benchmark) {
        this.server = server;
        this.port = port;
        this.benchmark = benchmark;
        this.atExit = new Thread(server::destroyForcibly, "cassia-bench-redis");
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** Empty when Redis is not installed here or does not start. */
    public static Optional<RedisServer> start() throws IOException {
        Optional<Path> program = find(SERVER);
        Optional<Path> benchmark = find(BENCHMARK);
        if (program.isEmpty() || benchmark.isEmpty()) {
            return Optional.empty();
        }
        int port = freePort();
        Process server =
                new ProcessBuilder(
                                program.get().toString(),
                                "--port",
                                Integer.toString(port),
                                "--bind",
                                "127.0.0.1",
                                "--save",
                                "",
                                "--appendonly",
                                "no",
                                "--dir",
                                System.getProperty("java.io.tmpdir"))
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start();
        RedisServer redis = new RedisServer(server, port, benchmark.get());
        if (redis.answers()) {
            return Optional.of(redis);
        }
        redis.close();
        return Optional.empty();
    }

    private static Optional<Path> find(String program) {
        String path = System.getenv().getOrDefault("PATH", "/usr/bin");
        return Stream.of(path.split(File.pathSeparator, -1))
                .filter(directory -> !directory.isEmpty())
                .map(directory -> Path.of(directory, program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    private static int freePort() throws IOException {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        }
    }

    private boolean answers() {
        for (int i = 0; i < ATTEMPTS && server.isAlive(); i++) {
            try (Socket socket = new Socket()) {
                socket.connect(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                        CONNECT_MILLIS);
                return true;
            } catch (IOException e) {
                if (waitedInVain()) {
                    return false;
                }
            }
        }
        return false;
    }

    /** Whether the server ended, or the wait did, instead of the pause passing. */
    private boolean waitedInVain() {
        try {
            return server.waitFor(CONNECT_MILLIS / 2, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /**
     * What redis-benchmark prints, in CSV. One that fails is run once more: now and then it loses
     * all its connections at the start.
     *
     * @param options of it, without those of the address
     * @param limit after which it is ended
     */
    public List<String> benchmark(List<String> options, Duration limit) throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                benchmark.toString(),
                                "-h",
                                "127.0.0.1",
                                "-p",
                                Integer.toString(port),
                                "--csv"));
        command.addAll(options);
        Ended first = run(command, limit);
        Ended last = first.status == 0 ? first : run(command, limit);
        if (last.status != 0) {
            throw new IOException("redis-benchmark fails: " + last.lines);
        }
        return last.lines;
    }

    /** How a process ended, and what it printed. Immutable. */
    private record Ended(int status, List<String> lines) {}

    private static Ended run(List<String> command, Duration limit) throws IOException {
        Process run = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (BufferedReader out = run.inputReader(StandardCharsets.UTF_8)) {
            // It prints a few lines, which the pipe holds.
            if (!run.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IOException("redis-benchmark does not end");
            }
            return new Ended(run.exitValue(), out.lines().toList());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while redis-benchmark runs", e);
        } finally {
            run.destroyForcibly();
        }
    }

    @Override
    public void close() {
        server.destroy();
        try {
            if (!server.waitFor(5, TimeUnit.SECONDS)) {
                server.destroyForcibly();
            }
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (InterruptedException e) {
            server.destroyForcibly();
            Thread.currentThread().interrupt();
        } catch (IllegalStateException e) {
            // The process is ending, and the hook does the same.
            server.destroyForcibly();
        }
    }
}
