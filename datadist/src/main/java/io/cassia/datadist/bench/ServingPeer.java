package io.cassia.datadist.bench;

import io.cassia.base.Clock;
import io.cassia.datadist.DataDistOptions;
import io.cassia.datadist.LlmDataDist;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheKey;
import io.cassia.datadist.cache.DataType;
import io.cassia.datadist.cache.LayerRange;
import io.cassia.datadist.exchange.CacheTask;
import io.cassia.datadist.exchange.LayerBlocks;
import io.cassia.datadist.exchange.LayerPushConfig;
import io.cassia.datadist.link.LlmRole;
import io.cassia.datadist.memory.PoolConfig;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A prompt, and beside it a bare engine where one is wanted, that do what lines say. Confined to
 * one thread.
 *
 * <pre>
 *   where                                     port, and segment and address of the bare engine
 *   allocate batches|blocks TENSORS TYPE DIM,DIM,... SEED [REQUEST]
 *                                             number of a cache, filled when the seed is not 0
 *   check CACHE SEED BYTES SRC,... DST,...    whether its blocks DST are what blocks SRC of a cache
 *                                             filled with the seed are
 *   clear CACHE                               zeros
 *   push CACHE CLUSTER CACHE                  layer by layer: bytes, ranges, nanoseconds
 *   free CACHE
 * </pre>
 */
public final class ServingPeer implements Counterpart {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final LlmDataDist cluster;
    private final Optional<EngineSide> engine;
    private final Clock clock;
    private final Map<Long, Cache> caches = new HashMap<>();

    private ServingPeer(LlmDataDist cluster, Optional<EngineSide> engine, Clock clock) {
        this.cluster = cluster;
        this.engine = engine;
        this.clock = clock;
    }

    /**
     * How it is set up. Immutable.
     *
     * @param poolBytes memory for caches
     * @param engineBytes memory of the bare engine; 0: there is none
     * @param roleGating whether it only does what prompts may
     * @param transports what may carry bytes
     */
    public record Setup(
            long poolBytes, long engineBytes, boolean roleGating, Set<Transport> transports) {
        DataDistOptions options(Optional<String> listen) {
            DataDistOptions.Builder options =
                    DataDistOptions.builder()
                            .devicePool(PoolConfig.ofBytes(poolBytes).orThrow())
                            .dataHost("127.0.0.1")
                            .roleGating(roleGating)
                            .transports(transports)
                            .syncTimeout(LIMIT);
            listen.ifPresent(host -> options.listen(host, 0));
            return options.build();
        }
    }

    /** The codes of {@link LlmDataDist#initialize}, {@code LLM_FAILED} without a bare engine. */
    public static Outcome<ServingPeer> open(Setup setup, Clock clock, MeterRegistry meters) {
        LlmDataDist cluster = new LlmDataDist(CLUSTER, LlmRole.PROMPT, clock, meters);
        Outcome<ServingPeer> peer =
                cluster.initialize(setup.options(Optional.of("127.0.0.1")))
                        .then(
                                ok ->
                                        setup.engineBytes() == 0
                                                ? Outcome.ok(Optional.<EngineSide>empty())
                                                : EngineSide.open(
                                                                setup.transports(),
                                                                setup.engineBytes(),
                                                                clock,
                                                                meters)
                                                        .map(Optional::of))
                        .map(engine -> new ServingPeer(cluster, engine, clock));
        if (!peer.isOk()) {
            cluster.close();
        }
        return peer;
    }

    @Override
    public Outcome<String> ask(String line) {
        String[] words = line.split(" ", -1);
        try {
            return switch (words[0]) {
                case "where" -> Outcome.ok(where());
                case "allocate" -> allocate(words);
                case "check" ->
                        cache(words[1]).map(cache -> Boolean.toString(isAsSaid(cache, words)));
                case "clear" ->
                        cache(words[1])
                                .map(
                                        cache -> {
                                            Patterns.clear(cache);
                                            return "";
                                        });
                case "push" -> cache(words[1]).then(cache -> push(cache, words));
                case "free" -> cache(words[1]).then(cluster::deallocateCache).map(ok -> "");
                default -> Outcome.failed(LlmStatus.LLM_PARAM_INVALID, "command " + words[0]);
            };
        } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
            return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, line + ": " + e);
        }
    }

    private String where() {
        int port = cluster.listenAddress().orElseThrow().port();
        return port + engine.map(side -> " " + side.name() + " " + side.address()).orElse("");
    }

    private Outcome<Cache> cache(String word) {
        Cache cache = caches.get(Long.parseLong(word));
        return cache == null
                ? Outcome.failed(LlmStatus.LLM_KV_CACHE_NOT_EXIST, "cache " + word)
                : Outcome.ok(cache);
    }

    private Outcome<String> allocate(String[] words) {
        CacheDesc desc =
                CacheDesc.device(
                        Integer.parseInt(words[2]),
                        DataType.valueOf(words[3]),
                        Counterpart.numbers(words[4]));
        int seed = Integer.parseInt(words[5]);
        List<CacheKey> keys =
                words.length > 6
                        ? List.of(CacheKey.request(CLUSTER, Long.parseLong(words[6])))
                        : List.of();
        Outcome<Cache> made =
                words[1].equals("blocks")
                        ? cluster.allocateBlocksCache(desc)
                        : cluster.allocateCache(desc, keys);
        return made.map(
                cache -> {
                    caches.put(cache.cacheId(), cache);
                    if (seed == 0) {
                        Patterns.clear(cache);
                    } else {
                        Patterns.fill(cache, seed);
                    }
                    return Long.toString(cache.cacheId());
                });
    }

    private static boolean isAsSaid(Cache cache, String[] words) {
        return Patterns.holds(
                cache,
                Integer.parseInt(words[2]),
                Long.parseLong(words[3]),
                Counterpart.numbers(words[4]),
                Counterpart.numbers(words[5]));
    }

    private Outcome<String> push(Cache cache, String[] words) {
        LayerPushConfig whole =
                new LayerPushConfig.ToCache(
                        new CacheIndex(Long.parseLong(words[2]), Long.parseLong(words[3])),
                        LayerRange.ALL,
                        LayerRange.ALL,
                        0);
        long start = clock.nanos();
        return cluster.transferCacheAsync(cache, layer -> true, List.of(whole), LayerBlocks.NONE)
                .then((CacheTask task) -> task.synchronize(LIMIT))
                .map(
                        (Done ok) -> {
                            long nanos = clock.nanos() - start;
                            int tensors = cache.tensors().size();
                            long bytes = cache.tensors().getFirst().byteSize() * tensors;
                            return bytes + " " + tensors + " " + nanos;
                        });
    }

    @Override
    public void close() {
        engine.ifPresent(EngineSide::close);
        cluster.close();
    }
}
