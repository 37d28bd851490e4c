package io.cassia.app.bench;

import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** GETs of a Redis server of this run. Confined to its thread. */
public final class RedisReference implements AutoCloseable {
    private static final int KEYS = 100_000;
    private static final int TRIAL = 20_000;
    private static final int MOST = 20_000_000;
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Pattern RATE = Pattern.compile("\"GET\",\"([0-9.]+)\"");

    private final RedisServer server;

    private RedisReference(RedisServer server) {
        this.server = server;
    }

    /** Starts the server and fills it. RPC_FAIL when there is none on this machine. */
    public static Outcome<RedisReference> start() {
        try {
            Optional<RedisServer> server = RedisServer.start();
            if (server.isEmpty()) {
                return absent("redis-server or redis-benchmark is not there");
            }
            RedisReference started = new RedisReference(server.get());
            try {
                if (!started.benchmark("set", KEYS, 1, 64, LIMIT).isEmpty()) {
                    return Outcome.ok(started);
                }
            } catch (IOException e) {
                started.close();
                return absent(e.toString());
            }
            started.close();
            return Outcome.failed(StoreCode.RPC_FAIL, "redis-benchmark says nothing");
        } catch (IOException e) {
            return absent(e.toString());
        }
    }

    private static Outcome<RedisReference> absent(String why) {
        return Outcome.failed(StoreCode.RPC_FAIL, "no Redis to compare with: " + why);
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
        double trial = rate(TRIAL * Math.min(pipeline, 16), connections, pipeline, LIMIT);
        long requests = (long) (trial * duration.toNanos() / 1e9);
        // The trial may have been lucky.
        Duration limit = LIMIT.plus(duration.multipliedBy(10));
        return rate(Math.clamp(requests, TRIAL, MOST), connections, pipeline, limit);
    }

    private double rate(int requests, int connections, int pipeline, Duration limit)
            throws IOException {
        String csv = benchmark("get", requests, connections, pipeline, limit);
        Matcher matcher = RATE.matcher(csv);
        if (!matcher.find()) {
            throw new IOException("redis-benchmark said: " + csv);
        }
        return Double.parseDouble(matcher.group(1));
    }

    private String benchmark(
            String test, int requests, int connections, int pipeline, Duration limit)
            throws IOException {
        List<String> options =
                List.of(
                        "-t",
                        test,
                        "-n",
                        Integer.toString(requests),
                        "-r",
                        Integer.toString(KEYS),
                        "-c",
                        Integer.toString(connections),
                        "-P",
                        Integer.toString(pipeline));
        return String.join("\n", server.benchmark(options, limit));
    }

    @Override
    public void close() {
        server.close();
    }
}
