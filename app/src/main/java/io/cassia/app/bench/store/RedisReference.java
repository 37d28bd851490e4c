package io.cassia.app.bench.store;

import io.cassia.app.bench.store.StoreCell.Operation;
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
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A Redis server of its own on a free loopback port, measured by redis-benchmark with SET and GET.
 * Confined to its thread. It keeps nothing on disk and ends with this process.
 */
public final class RedisReference implements AutoCloseable {
    private static final String SERVER = "redis-server";
    private static final String BENCHMARK = "redis-benchmark";
    private static final int CONNECT_MILLIS = 200;
    private static final int ATTEMPTS = 50;
    private static final long LIMIT_SECONDS = 60;

    /** Test and requests per second; the latencies behind are those of a reply's first byte. */
    private static final Pattern RESULT = Pattern.compile("\"(SET|GET)[^\"]*\",\"([0-9.]+)\".*");

    private final Process server;
    private final int port;
    private final Path benchmark;
    private final Thread atExit;

    private RedisReference(Process server, int port, Path benchmark) {
        this.server = server;
        this.port = port;
        this.benchmark = benchmark;
        this.atExit = new Thread(server::destroyForcibly, "cassia-bench-redis");
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** Empty when Redis is not installed here or does not start. */
    public static Optional<RedisReference> start() throws IOException {
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
        RedisReference redis = new RedisReference(server, port, benchmark.get());
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
     * Bytes per second of values of this size.
     *
     * @param inFlight connections, each with one request at a time
     * @param requests of each operation
     */
    public Map<Operation, Double> measure(long bytes, int inFlight, long requests)
            throws IOException {
        List<String> command =
                List.of(
                        benchmark.toString(),
                        "-h",
                        "127.0.0.1",
                        "-p",
                        Integer.toString(port),
                        "-t",
                        "set,get",
                        "-d",
                        Long.toString(bytes),
                        "-c",
                        Integer.toString(inFlight),
                        "-n",
                        Long.toString(requests),
                        "--csv");
        Process run = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<String> lines = new ArrayList<>();
        try (BufferedReader out = run.inputReader(StandardCharsets.UTF_8)) {
            out.lines().forEach(lines::add);
            if (!run.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("redis-benchmark does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while redis-benchmark runs", e);
        } finally {
            run.destroyForcibly();
        }
        return parse(lines, bytes);
    }

    private static Map<Operation, Double> parse(List<String> lines, long bytes) throws IOException {
        Map<Operation, Double> rates = new EnumMap<>(Operation.class);
        for (String line : lines) {
            Matcher result = RESULT.matcher(line.strip());
            if (result.matches()) {
                Operation operation =
                        result.group(1).toUpperCase(Locale.ROOT).equals("SET")
                                ? Operation.PUT
                                : Operation.GET;
                rates.put(operation, Double.parseDouble(result.group(2)) * bytes);
            }
        }
        if (rates.size() != Operation.values().length) {
            throw new IOException("redis-benchmark said " + lines);
        }
        return rates;
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
