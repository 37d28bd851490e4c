package io.cassia.app.bench;

import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Redis server of this run, on a free loopback port, and redis-benchmark as its client: what is
 * known to be fast on any machine. Confined to its thread.
 */
public final class RedisReference implements AutoCloseable {
    private static final int KEYS = 100_000;
    private static final int TRIAL = 20_000;
    private static final int MOST = 20_000_000;
    private static final Pattern RATE = Pattern.compile("\"GET\",\"([0-9.]+)\"");

    private final Process server;
    private final String port;

    private RedisReference(Process server, String port) {
        this.server = server;
        this.port = port;
    }

    /** Starts the server and fills it. RPC_FAIL when there is none on this machine. */
    public static Outcome<RedisReference> start() {
        try {
            String port = freePort();
            Process server =
                    new ProcessBuilder(
                                    "redis-server",
                                    "--port",
                                    port,
                                    "--bind",
                                    "127.0.0.1",
                                    "--save",
                                    "",
                                    "--appendonly",
                                    "no")
                            .redirectErrorStream(true)
                            .start();
            RedisReference started = new RedisReference(server, port);
            BufferedReader out = server.inputReader();
            String line = out.readLine();
            while (line != null && !line.contains("Ready to accept connections")) {
                line = out.readLine();
            }
            if (line == null) {
                return Outcome.failed(StoreCode.RPC_FAIL, "redis-server ended at once");
            }
            String filled = started.benchmark("set", KEYS, 1, 64);
            return filled.isEmpty()
                    ? Outcome.failed(StoreCode.RPC_FAIL, "redis-benchmark says nothing")
                    : Outcome.ok(started);
        } catch (IOException e) {
            return Outcome.failed(StoreCode.RPC_FAIL, "no Redis to compare with: " + e);
        }
    }

    private static String freePort() throws IOException {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return Integer.toString(probe.getLocalPort());
        }
    }

    /** GETs per second with as many connections and requests in flight as in a cell. */
    public double beside(MasterCell cell, Duration duration) {
        try {
            return gets(cell.clients(), cell.pipeline(), duration);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * GETs per second.
     *
     * @param pipeline requests that each connection has in flight
     */
    private double gets(int connections, int pipeline, Duration duration) throws IOException {
        double trial = rate(TRIAL * Math.min(pipeline, 16), connections, pipeline);
        long requests = (long) (trial * duration.toNanos() / 1e9);
        return rate(Math.clamp(requests, TRIAL, MOST), connections, pipeline);
    }

    private double rate(int requests, int connections, int pipeline) throws IOException {
        String csv = benchmark("get", requests, connections, pipeline);
        Matcher matcher = RATE.matcher(csv);
        if (!matcher.find()) {
            throw new IOException("redis-benchmark said: " + csv);
        }
        return Double.parseDouble(matcher.group(1));
    }

    private String benchmark(String test, int requests, int connections, int pipeline)
            throws IOException {
        List<String> command =
                new ArrayList<>(List.of("redis-benchmark", "-h", "127.0.0.1", "-p", port));
        command.addAll(List.of("-t", test, "-n", Integer.toString(requests)));
        command.addAll(List.of("-r", Integer.toString(KEYS), "--csv"));
        command.addAll(List.of("-c", Integer.toString(connections)));
        command.addAll(List.of("-P", Integer.toString(pipeline)));
        Process client = new ProcessBuilder(command).redirectErrorStream(true).start();
        StringBuilder text = new StringBuilder();
        try (BufferedReader out = client.inputReader()) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                text.append(line).append('\n');
            }
        }
        return text.toString();
    }

    @Override
    public void close() {
        server.destroy();
    }
}
