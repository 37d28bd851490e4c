package io.cassia.lab.datadist;

import io.cassia.datadist.LlmDataDist;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheKey;
import io.cassia.datadist.cache.CacheRef;
import io.cassia.datadist.cache.DataType;
import io.cassia.datadist.cache.Placement;
import io.cassia.datadist.exchange.TransferOptions;
import io.cassia.datadist.link.ClusterInfo;
import io.cassia.datadist.link.LinkResult;
import io.cassia.datadist.link.LlmRole;
import io.cassia.datadist.memory.PoolStats;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A cluster in a process of its own, which does what its standard input says, one command per line,
 * and answers each with one line: a code and words. Confined to its main thread.
 *
 * <pre>
 *   ClusterPeer CLUSTER_ID ROLE key=value...      options by their string keys; first line: "ready PORT"
 *
 *   allocate TENSORS BATCHES STRIDE [REQ_ID...]   "SUCCESS cache ID"; bytes, with one key per batch
 *   fill CACHE SEED                               "SUCCESS"
 *   sum CACHE BATCH                               "SUCCESS CRC32C" of that batch of all tensors
 *   link ID HOST PORT MILLIS                      overall code, then the entry's detail
 *   unlink ID polite|force MILLIS
 *   check ID MILLIS
 *   pull ID CACHE|key:REQ BATCH INTO BATCH MILLIS source cluster, cache or key, batch; destination
 *   push CACHE BATCH ID CACHE BATCH MILLIS        source; destination cluster, cache, batch
 *   deallocate CACHE
 *   role ROLE PORT                                with a port for who listens
 *   remove REQ_ID                                a key
 *   pool                                         bytes in use
 *   links | caches | keys                         "SUCCESS" and a list
 *   exit                                          closes the cluster and ends
 * </pre>
 */
final class ClusterPeer {
    private final LlmDataDist cluster;
    private final Map<Long, Cache> caches = new ConcurrentHashMap<>();

    ClusterPeer(LlmDataDist cluster) {
        this.cluster = cluster;
    }

    /** Ends with the standard input, or with status 1 when the cluster cannot be initialised. */
    public static void main(String[] args) throws IOException {
        Map<String, String> options = new HashMap<>(Map.of("llm.DeviceId", "0"));
        for (String option : Arrays.asList(args).subList(2, args.length)) {
            int equals = option.indexOf('=');
            options.put(option.substring(0, equals), option.substring(equals + 1));
        }
        LlmRole role = LlmRole.valueOf(args[1]);
        try (LlmDataDist cluster = new LlmDataDist(Long.parseUnsignedLong(args[0]), role)) {
            Outcome<?> ready = cluster.initialize(options);
            if (!ready.isOk()) {
                System.out.println(line(ready));
                System.exit(1);
            }
            System.out.println(
                    "ready " + cluster.listenAddress().map(address -> address.port()).orElse(0));
            new ClusterPeer(cluster).serve();
        }
    }

    private void serve() throws IOException {
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String command = in.readLine(); command != null; command = in.readLine()) {
            List<String> words = Arrays.asList(command.trim().split("\\s+"));
            if (words.getFirst().equals("exit")) {
                return;
            }
            System.out.println(answer(words));
        }
    }

    String answer(List<String> words) {
        try {
            return run(words);
        } catch (RuntimeException e) {
            return "USAGE " + e;
        }
    }

    private String run(List<String> words) {
        return switch (words.getFirst()) {
            case "allocate" -> allocate(words);
            case "fill" -> {
                Contents.fill(cache(words.get(1)), Integer.parseInt(words.get(2)));
                yield "SUCCESS";
            }
            case "sum" ->
                    "SUCCESS " + Contents.sum(cache(words.get(1)), Integer.parseInt(words.get(2)));
            case "link" ->
                    line(
                            cluster.linkClusters(
                                    List.of(
                                            ClusterInfo.of(
                                                    number(words.get(1)),
                                                    words.get(2),
                                                    Integer.parseInt(words.get(3)))),
                                    millis(words.get(4))));
            case "unlink" ->
                    line(
                            cluster.unlinkClusters(
                                    List.of(ClusterInfo.of(number(words.get(1)))),
                                    millis(words.get(3)),
                                    words.get(2).equals("force")));
            case "check" ->
                    line(cluster.checkLinkStatus(number(words.get(1)), millis(words.get(2))));
            case "pull" -> line(pull(words));
            case "push" -> line(push(words));
            case "deallocate" -> line(cluster.deallocateCache(cache(words.get(1))));
            case "role" -> role(words);
            case "remove" ->
                    line(
                            cluster.removeCacheKey(
                                    CacheKey.request(cluster.clusterId(), number(words.get(1)))));
            case "pool" ->
                    "SUCCESS "
                            + cluster.poolStats(Placement.DEVICE)
                                    .map(PoolStats::usedBytes)
                                    .orElse(0L);
            case "links" -> "SUCCESS " + cluster.links();
            case "caches" -> "SUCCESS " + cluster.caches();
            case "keys" -> "SUCCESS " + cluster.cacheKeys();
            default -> "USAGE unknown command " + words.getFirst();
        };
    }

    private String role(List<String> words) {
        Map<String, String> options =
                words.size() > 2
                        ? Map.of("llm.ListenIpInfo", "127.0.0.1:" + words.get(2))
                        : Map.of();
        return line(cluster.setRole(LlmRole.valueOf(words.get(1)), options));
    }

    private String allocate(List<String> words) {
        CacheDesc desc =
                CacheDesc.device(
                        Integer.parseInt(words.get(1)),
                        DataType.INT8,
                        number(words.get(2)),
                        number(words.get(3)));
        List<CacheKey> keys = new ArrayList<>();
        for (String key : words.subList(4, words.size())) {
            keys.add(CacheKey.request(cluster.clusterId(), number(key)));
        }
        Outcome<Cache> made = cluster.allocateCache(desc, keys);
        return switch (made) {
            case Outcome.Failed<Cache> failed -> line(failed);
            case Outcome.Ok<Cache>(Cache cache) -> {
                caches.put(cache.cacheId(), cache);
                yield "SUCCESS cache " + cache.cacheId();
            }
        };
    }

    private Outcome<?> pull(List<String> words) {
        long owner = number(words.get(1));
        int batch = Integer.parseInt(words.get(3));
        CacheRef source =
                words.get(2).startsWith("key:")
                        ? CacheKey.request(owner, number(words.get(2).substring(4)))
                        : new CacheIndex(owner, number(words.get(2)), batch);
        return cluster.pullCache(
                source,
                cache(words.get(4)),
                Integer.parseInt(words.get(5)),
                TransferOptions.DEFAULT.withTimeout(millis(words.get(6))));
    }

    private Outcome<?> push(List<String> words) {
        return cluster.pushCache(
                cache(words.get(1)),
                new CacheIndex(
                        number(words.get(3)), number(words.get(4)), Integer.parseInt(words.get(5))),
                Integer.parseInt(words.get(2)),
                TransferOptions.DEFAULT.withTimeout(millis(words.get(6))));
    }

    private Cache cache(String word) {
        Cache known = caches.get(number(word));
        return known != null
                ? known
                : new Cache(number(word), CacheDesc.device(1, DataType.INT8, 1), List.of());
    }

    private static long number(String word) {
        return Long.parseUnsignedLong(word);
    }

    private static Duration millis(String word) {
        return Duration.ofMillis(number(word));
    }

    private static String line(LinkResult result) {
        String entry =
                result.entries().isEmpty() ? "" : " entry " + line(result.entries().getFirst());
        return line(result.overall()) + entry;
    }

    private static String line(Outcome<?> outcome) {
        return switch (outcome) {
            case Outcome.Ok<?>(Object value) -> "SUCCESS " + value;
            case Outcome.Failed<?>(Code code, String detail) -> code.name() + " " + detail;
        };
    }
}
