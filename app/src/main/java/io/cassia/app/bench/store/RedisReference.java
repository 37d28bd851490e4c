package io.cassia.app.bench.store;

import io.cassia.app.bench.RedisServer;
import io.cassia.app.bench.store.StoreCell.Operation;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** SET and GET of a Redis server of this run, by the bytes. Confined to its thread. */
public final class RedisReference implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** Test and requests per second; the latencies behind are those of a reply's first byte. */
    private static final Pattern RESULT = Pattern.compile("\"(SET|GET)[^\"]*\",\"([0-9.]+)\".*");

    private final RedisServer server;

    private RedisReference(RedisServer server) {
        this.server = server;
    }

    /** Empty when Redis is not installed here or does not start. */
    public static Optional<RedisReference> start() throws IOException {
        return RedisServer.start().map(RedisReference::new);
    }

    /**
     * Bytes per second of values of this size.
     *
     * @param inFlight connections, each with one request at a time
     * @param requests of each operation
     */
    public Map<Operation, Double> measure(long bytes, int inFlight, long requests)
            throws IOException {
        List<String> options =
                List.of(
                        "-t",
                        "set,get",
                        "-d",
                        Long.toString(bytes),
                        "-c",
                        Integer.toString(inFlight),
                        "-n",
                        Long.toString(requests));
        return parse(server.benchmark(options, LIMIT), bytes);
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
        server.close();
    }
}
