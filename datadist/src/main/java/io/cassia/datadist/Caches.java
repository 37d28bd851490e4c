package io.cassia.datadist;

import io.cassia.datadist.cache.BlocksCacheKey;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheKey;
import io.cassia.datadist.cache.CacheOrigin;
import io.cassia.datadist.cache.Geometry;
import io.cassia.datadist.cache.NewCache;
import io.cassia.datadist.cache.Tensors;
import io.cassia.datadist.exchange.TransferOptions;
import io.cassia.datadist.link.LlmRole;
import io.cassia.datadist.memory.Grant;
import io.cassia.datadist.memory.RegisteredTensors;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Immutable. Makes and takes apart caches for {@link LlmDataDist}. */
final class Caches {
    private static final System.Logger LOG = System.getLogger(Caches.class.getName());

    private Caches() {}

    static Outcome<Cache> allocate(Instance open, CacheDesc desc, List<CacheKey> keys) {
        Outcome<Done> allowed =
                keys.isEmpty()
                        ? Outcome.done()
                        : Roles.require(open, LlmRole.PROMPT, "name caches by keys");
        return allowed.then(ok -> allocate(open, desc, false, keys, Optional.empty()));
    }

    static Outcome<Cache> allocate(Instance open, CacheDesc desc, Optional<BlocksCacheKey> key) {
        return requireMayName(open, key).then(ok -> allocate(open, desc, true, List.of(), key));
    }

    private static Outcome<Done> requireMayName(Instance open, Optional<BlocksCacheKey> key) {
        return key.isPresent()
                        && open.options().roleGating()
                        && open.links().role() == LlmRole.DECODER
                ? Outcome.failed(
                        LlmStatus.LLM_PARAM_INVALID, "a DECODER may not name a block cache")
                : Outcome.done();
    }

    private static Outcome<Cache> allocate(
            Instance open,
            CacheDesc desc,
            boolean blocks,
            List<CacheKey> keys,
            Optional<BlocksCacheKey> blocksKey) {
        return desc.geometry()
                .then(
                        geometry -> {
                            NewCache draft =
                                    allocated(
                                            desc,
                                            geometry,
                                            blocks,
                                            keys,
                                            blocksKey,
                                            List.of(),
                                            Outcome::done);
                            return open.caches()
                                    .checkKeys(draft)
                                    .then(ok -> open.pools().require(desc.placement()))
                                    .then(
                                            pool ->
                                                    pool.grant(
                                                            geometry.numTensors(),
                                                            geometry.tensorBytes()))
                                    .then(grant -> add(open, draft, grant));
                        });
    }

    private static NewCache allocated(
            CacheDesc desc,
            Geometry geometry,
            boolean blocks,
            List<CacheKey> keys,
            Optional<BlocksCacheKey> blocksKey,
            List<MemorySegment> tensors,
            Supplier<Outcome<Done>> onFree) {
        return new NewCache(
                desc, geometry, CacheOrigin.ALLOCATED, blocks, tensors, keys, blocksKey, onFree);
    }

    private static Outcome<Cache> add(Instance open, NewCache draft, Grant grant) {
        Outcome<Cache> added =
                open.caches()
                        .add(
                                allocated(
                                        draft.desc(),
                                        draft.geometry(),
                                        draft.blocks(),
                                        draft.keys(),
                                        draft.blocksKey(),
                                        grant.tensors(),
                                        () -> {
                                            grant.release();
                                            return Outcome.done();
                                        }));
        if (!added.isOk()) {
            grant.release();
        }
        return added;
    }

    static Outcome<Cache> register(
            Instance open, CacheDesc desc, List<MemorySegment> tensors, List<CacheKey> keys) {
        Outcome<Done> allowed =
                keys.isEmpty()
                        ? Outcome.done()
                        : Roles.require(open, LlmRole.PROMPT, "name caches by keys");
        return allowed.then(ok -> desc.geometry())
                .then(
                        geometry ->
                                Tensors.require(tensors, geometry)
                                        .then(
                                                memory ->
                                                        register(
                                                                open,
                                                                registered(
                                                                        open,
                                                                        desc,
                                                                        geometry,
                                                                        memory,
                                                                        keys,
                                                                        Optional.empty()))));
    }

    static Outcome<Cache> register(Instance open, CacheDesc desc, long[] addrs) {
        return desc.geometry()
                .then(
                        geometry ->
                                Tensors.at(addrs, geometry)
                                        .then(
                                                memory ->
                                                        register(
                                                                open,
                                                                registered(
                                                                        open,
                                                                        desc,
                                                                        geometry,
                                                                        memory,
                                                                        List.of(),
                                                                        Optional.empty()))));
    }

    static Outcome<Cache> register(
            Instance open, CacheDesc desc, List<MemorySegment> tensors, BlocksCacheKey key) {
        return requireMayName(open, Optional.of(key))
                .then(ok -> desc.geometry())
                .then(
                        geometry ->
                                Tensors.require(tensors, geometry)
                                        .then(
                                                memory ->
                                                        register(
                                                                open,
                                                                registered(
                                                                        open,
                                                                        desc,
                                                                        geometry,
                                                                        memory,
                                                                        List.of(),
                                                                        Optional.of(key)))));
    }

    private static NewCache registered(
            Instance open,
            CacheDesc desc,
            Geometry geometry,
            List<MemorySegment> memory,
            List<CacheKey> keys,
            Optional<BlocksCacheKey> key) {
        return new NewCache(
                desc,
                geometry,
                CacheOrigin.REGISTERED,
                key.isPresent(),
                memory,
                keys,
                key,
                new RegisteredTensors(open.registrations(), memory)::release);
    }

    private static Outcome<Cache> register(Instance open, NewCache cache) {
        return open.caches()
                .checkKeys(cache)
                .then(ok -> open.registrations().add(cache.tensors()))
                .then(
                        ok -> {
                            Outcome<Cache> added = open.caches().add(cache);
                            if (!added.isOk()) {
                                if (cache.onFree().get() instanceof Outcome.Failed<Done> failed) {
                                    LOG.log(Level.WARNING, "unregister: " + failed.detail());
                                }
                            }
                            return added;
                        });
    }

    static Outcome<Done> removeKey(Instance open, CacheKey key) {
        return Roles.require(open, LlmRole.PROMPT, "remove a key")
                .then(ok -> key.check())
                .map(
                        ok -> {
                            open.caches().removeKey(key);
                            return ok;
                        });
    }

    static Outcome<Done> removeKey(Instance open, BlocksCacheKey key) {
        return Roles.require(open, LlmRole.PROMPT, "remove a key")
                .map(
                        ok -> {
                            open.caches().removeKey(key);
                            return ok;
                        });
    }

    static Outcome<Done> copyInside(
            Instance open, Cache cache, Map<Long, List<Long>> mapping, long deadlineNanos) {
        int pairs = mapping.values().stream().mapToInt(List::size).sum();
        long[] src = new long[pairs];
        long[] dst = new long[pairs];
        int at = 0;
        for (Map.Entry<Long, List<Long>> entry : mapping.entrySet()) {
            for (long to : entry.getValue()) {
                src[at] = entry.getKey();
                dst[at++] = to;
            }
        }
        return open.copies().blocks(cache, cache, src, List.of(dst), deadlineNanos);
    }

    /** The wait for keys that was configured, where the call names none. */
    static TransferOptions keyWait(Instance open, TransferOptions options) {
        return options.keyWait().isZero() && !open.options().keyWait().isZero()
                ? options.withKeyWait(open.options().keyWait())
                : options;
    }
}
