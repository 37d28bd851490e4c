package io.cassia.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * A real server program that a test runs on a free port of the loopback interface, with its data in
 * a directory of the test. Confined to the test's thread.
 *
 * <p>It can be killed, emptied and started again on the same port, and frozen so that it accepts
 * connections and answers nothing. It is ended by its own process id when it is closed, and when
 * the JVM ends before that.
 */
public final class ServiceProcess implements AutoCloseable {
    private static final Duration START = Duration.ofSeconds(30);
    private static final Duration POLL = Duration.ofMillis(10);
    private static final int FIRST_PORT = 20_000;
    private static final int EPHEMERAL_PORTS = 32_768;
    private static final int PORT_ATTEMPTS = 1_000;

    private final String name;
    private final Path directory;
    private final int port;
    private final List<String> command;
    private final Probe probe;
    private final Thread atExit = new Thread(this::kill, "cassia-service-kill");
    // Read by the hook at exit too.
    private volatile @Nullable Process process;

    /** How one asks a program whether it serves. */
    private record Probe(String request, List<String> answers) {}

    private ServiceProcess(
            String name, Path directory, int port, List<String> command, Probe probe) {
        this.name = name;
        this.directory = directory;
        this.port = port;
        this.command = List.copyOf(command);
        this.probe = probe;
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /**
     * An etcd of one member, not started yet. Without the program the test is skipped, saying so.
     */
    public static ServiceProcess etcd(Path directory) {
        Path program = require("etcd", "etcd-server");
        int port = freePort();
        String client = "http://127.0.0.1:" + port;
        String peer = "http://127.0.0.1:" + freePort();
        List<String> command =
                List.of(
                        program.toString(),
                        "--name=test",
                        "--data-dir=" + directory.resolve("data"),
                        "--listen-client-urls=" + client,
                        "--advertise-client-urls=" + client,
                        "--listen-peer-urls=" + peer,
                        "--initial-advertise-peer-urls=" + peer,
                        "--initial-cluster=test=" + peer,
                        // A member alone elects itself after one timeout.
                        "--heartbeat-interval=20",
                        "--election-timeout=100");
        return new ServiceProcess(
                "etcd",
                directory,
                port,
                command,
                new Probe(
                        "GET /health HTTP/1.0\r\n\r\n",
                        List.of("{\"health\":\"true\"}", "{\"health\":\"true\",")));
    }

    /**
     * A Redis server that writes nothing to disk, not started yet. Without the program the test is
     * skipped, saying so.
     *
     * @param options more of its command line
     */
    public static ServiceProcess redis(Path directory, String... options) {
        Path program = require("redis-server", "redis-server");
        int port = freePort();
        List<String> command =
                new ArrayList<>(
                        List.of(
                                program.toString(),
                                "--port",
                                Integer.toString(port),
                                "--bind",
                                "127.0.0.1",
                                "--save",
                                "",
                                "--dir",
                                directory.toString()));
        command.addAll(List.of(options));
        return new ServiceProcess(
                "redis",
                directory,
                port,
                command,
                new Probe("PING\r\n", List.of("+PONG", "-NOAUTH")));
    }

    private static Path require(String program, String debianPackage) {
        Optional<Path> found = find(program);
        Assumptions.assumeTrue(
                found.isPresent(),
                () -> program + " is not installed; Debian package " + debianPackage);
        return found.orElseThrow();
    }

    /** A program of the search path. */
    public static Optional<Path> find(String program) {
        String path =
                System.getenv().getOrDefault("PATH", "") + ":/usr/local/bin:/usr/bin:/usr/sbin";
        return Stream.of(path.split(":", -1))
                .filter(directory -> !directory.isEmpty())
                .map(directory -> Path.of(directory, program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /**
     * A port of the loopback interface that nobody listens on. It is none of those that the kernel
     * gives to outgoing connections, which may take such a port before it is listened on.
     */
    public static int freePort() {
        for (int i = 0; i < PORT_ATTEMPTS; i++) {
            int candidate = ThreadLocalRandom.current().nextInt(FIRST_PORT, EPHEMERAL_PORTS);
            if (isFree(candidate)) {
                return candidate;
            }
        }
        throw new IllegalStateException(
                "no port of %d to %d is free".formatted(FIRST_PORT, EPHEMERAL_PORTS - 1));
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    /** The port that it serves, the same after each start. */
    public int port() {
        return port;
    }

    /** {@code 127.0.0.1:port}. */
    public String address() {
        return "127.0.0.1:" + port;
    }

    /** Starts it and waits until it serves. */
    public ServiceProcess start() {
        launch();
        return this;
    }

    private void launch() {
        if (process != null) {
            throw new IllegalStateException(name + " runs already");
        }
        Path log = directory.resolve(name + ".log");
        try {
            Files.createDirectories(directory);
            Process started =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                            .start();
            process = started;
            await(started, log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void await(Process started, Path log) throws IOException {
        if (!pollUntil(() -> !started.isAlive() || serves(), START) || !started.isAlive()) {
            kill();
            List<String> lines = Files.readString(log, ISO_8859_1).lines().toList();
            throw new IllegalStateException(
                    "%s does not serve port %d: %s"
                            .formatted(
                                    name,
                                    port,
                                    lines.subList(Math.max(0, lines.size() - 10), lines.size())));
        }
    }

    private boolean serves() {
        try (Socket socket = new Socket()) {
            int millis = 1000;
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), millis);
            socket.setSoTimeout(millis);
            socket.getOutputStream().write(probe.request().getBytes(UTF_8));
            StringBuilder answer = new StringBuilder();
            byte[] bytes = new byte[1024];
            int read;
            while ((read = socket.getInputStream().read(bytes)) > 0) {
                answer.append(new String(bytes, 0, read, ISO_8859_1));
                if (probe.answers().stream().anyMatch(text -> answer.indexOf(text) >= 0)) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            return false;
        }
    }

    /** Ends it at once, as {@code kill -9}. Its data stay. */
    public void kill() {
        Process running = process;
        process = null;
        if (running == null) {
            return;
        }
        running.destroyForcibly();
        try {
            if (!running.waitFor(START.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException(name + " does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends it, deletes its data and starts it again: the store that lost everything. */
    public void restartEmpty() {
        kill();
        delete(directory.resolve("data"));
        launch();
    }

    /** Stops it in its tracks: connections are accepted by the kernel and never answered. */
    public void freeze() {
        Signals.stop(running());
    }

    /** Lets it go on. */
    public void thaw() {
        Signals.resume(running());
    }

    private Process running() {
        Process running = process;
        if (running == null) {
            throw new IllegalStateException(name + " does not run");
        }
        return running;
    }

    /** Looks at a condition again and again until it holds; false when it does not in time. */
    public static boolean pollUntil(BooleanSupplier condition, Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                return false;
            }
            try {
                Thread.sleep(POLL);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return true;
    }

    private static void delete(Path tree) {
        if (!Files.exists(tree)) {
            return;
        }
        try (Stream<Path> paths = Files.walk(tree)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        kill();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // The JVM is ending, and the hook does the same.
        }
    }
}
