package io.cassia.datadist;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.datadist.cache.BatchCopy;
import io.cassia.datadist.cache.BlocksCacheKey;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheInfo;
import io.cassia.datadist.cache.CacheKey;
import io.cassia.datadist.cache.CacheRef;
import io.cassia.datadist.cache.KeyInfo;
import io.cassia.datadist.cache.Placement;
import io.cassia.datadist.exchange.CacheTask;
import io.cassia.datadist.exchange.LayerBlocks;
import io.cassia.datadist.exchange.LayerPushConfig;
import io.cassia.datadist.exchange.LayerSynchronizer;
import io.cassia.datadist.exchange.TransferEvent;
import io.cassia.datadist.exchange.TransferListener;
import io.cassia.datadist.exchange.TransferOptions;
import io.cassia.datadist.exchange.TransferReport;
import io.cassia.datadist.link.ClusterInfo;
import io.cassia.datadist.link.IpInfo;
import io.cassia.datadist.link.LinkInfo;
import io.cassia.datadist.link.LinkListener;
import io.cassia.datadist.link.LinkResult;
import io.cassia.datadist.link.LlmRole;
import io.cassia.datadist.memory.EnginePlane;
import io.cassia.datadist.memory.PoolStats;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A cluster: one end of links over which KV caches are pulled and pushed (LLM-DataDist, spec
 * section 2). Guarded: every method may be called from any thread, several instances may live in
 * one process.
 *
 * <p>Every call ends within its time and returns one of the codes of {@link LlmStatus}, with a
 * detail that names cluster, address, cache, phase and cause. Before {@link #initialize} and after
 * {@link #close} every call is {@code LLM_FAILED}.
 *
 * <p>While roles gate (they do unless {@code llm.RoleGating=0}), only a decoder links, checks and
 * pulls, only a prompt names caches by keys and pushes; others are {@code LLM_PARAM_INVALID}.
 */
public final class LlmDataDist implements AutoCloseable {
    /** Time for linking and unlinking where none is given. */
    public static final Duration DEFAULT_LINK_TIMEOUT = Duration.ofSeconds(1);

    private static final System.Logger LOG = System.getLogger(LlmDataDist.class.getName());

    private final long clusterId;
    private final PlaneFactory planes;
    private final Clock clock;
    private final MeterRegistry meters;
    private final ReentrantLock life = new ReentrantLock();

    @GuardedBy("life")
    private LlmRole startRole;

    private volatile @Nullable Instance instance;

    /** With the system's clock, and meters that nobody scrapes. Nothing is opened yet. */
    public LlmDataDist(long clusterId, LlmRole role) {
        this(clusterId, role, Clock.system(), new SimpleMeterRegistry());
    }

    /** Nothing is opened yet. */
    public LlmDataDist(long clusterId, LlmRole role, Clock clock, MeterRegistry meters) {
        this(clusterId, role, EnginePlane::start, clock, meters);
    }

    LlmDataDist(
            long clusterId, LlmRole role, PlaneFactory planes, Clock clock, MeterRegistry meters) {
        this.clusterId = clusterId;
        this.startRole = role;
        this.planes = planes;
        this.clock = clock;
        this.meters = meters;
    }

    // ---- Life ----

    /**
     * From string keys; the failures of {@link DataDistOptions#parse} and of the other overload.
     */
    public Outcome<Done> initialize(Map<String, String> options) {
        if (instance != null) {
            return Outcome.done();
        }
        return DataDistOptions.parse(options).then(this::initialize);
    }

    /**
     * Opens data plane, pools and, where one is given and the role has it, the listening port. On
     * an initialised object it does nothing. {@code LLM_PARAM_INVALID} for a prompt without an
     * address, {@code LLM_FAILED} when a port cannot be had, {@code LLM_OUT_OF_MEMORY} when a pool
     * cannot.
     */
    public Outcome<Done> initialize(DataDistOptions options) {
        life.lock();
        try {
            if (instance != null) {
                return Outcome.done();
            }
            for (String key : options.unknownKeys()) {
                LOG.log(System.Logger.Level.WARNING, "option-unknown key=" + key);
            }
            Outcome<Instance> started =
                    Instance.start(clusterId, startRole, options, planes, clock, meters);
            if (started instanceof Outcome.Ok<Instance>(Instance open)) {
                instance = open;
            }
            return started.map(open -> Done.DONE);
        } finally {
            life.unlock();
        }
    }

    public boolean isInitialized() {
        return instance != null;
    }

    /**
     * Unlinks everything, stops listening, and gives all memory back: tensors of allocated caches
     * may not be touched any more. Calls that run are ended. Peers that still transfer fail. The
     * object may be initialised again. Idempotent.
     */
    @Override
    public void close() {
        life.lock();
        try {
            Instance open = instance;
            if (open != null) {
                startRole = open.links().role();
                instance = null;
                open.close();
            }
        } finally {
            life.unlock();
        }
    }

    public long clusterId() {
        return clusterId;
    }

    public LlmRole role() {
        Instance open = instance;
        if (open != null) {
            return open.links().role();
        }
        life.lock();
        try {
            return startRole;
        } finally {
            life.unlock();
        }
    }

    /** {@link #setRole(LlmRole, Map)} without options: whoever becomes one stops listening. */
    public Outcome<Done> setRole(LlmRole role) {
        return setRole(role, Map.of());
    }

    /**
     * Becomes another role, or the same again; caches and keys stay. {@code
     * LLM_FEATURE_NOT_ENABLED} without {@code llm.EnableSwitchRole} while roles gate, {@code
     * LLM_EXIST_LINK} with any link, {@code LLM_PARAM_INVALID} for a prompt without {@code
     * llm.ListenIpInfo}, {@code LLM_FAILED} when the port cannot be had: then everything is as
     * before.
     */
    public Outcome<Done> setRole(LlmRole role, Map<String, String> options) {
        return call("setRole " + role, open -> RoleSwitch.run(open, role, options));
    }

    // ---- Links ----

    /** With {@link #DEFAULT_LINK_TIMEOUT}. */
    public LinkResult linkClusters(List<ClusterInfo> clusters) {
        return linkClusters(clusters, DEFAULT_LINK_TIMEOUT);
    }

    /**
     * Links with up to 16 clusters at once. Entries: {@code LLM_ALREADY_LINK}; {@code
     * LLM_PARAM_INVALID} for an address that is none, a cluster that stands twice, and one that
     * answers with another number; {@code LLM_LINK_FAILED} when refused or unreachable; {@code
     * LLM_TIMEOUT} when it was not reached in time; {@code LLM_WAIT_PROC_TIMEOUT} when it was
     * reached and did not answer. The whole call: {@code LLM_CLUSTER_NUM_EXCEED_LIMIT}, {@code
     * LLM_PROCESSING_LINK} while another call links or unlinks for the whole time, {@code
     * LLM_PARAM_INVALID}.
     */
    public LinkResult linkClusters(List<ClusterInfo> clusters, Duration timeout) {
        return linkCall(open -> open.links().link(clusters, timeout));
    }

    /** Non-forced, with {@link #DEFAULT_LINK_TIMEOUT}. */
    public LinkResult unlinkClusters(List<ClusterInfo> clusters) {
        return unlinkClusters(clusters, DEFAULT_LINK_TIMEOUT, false);
    }

    /**
     * Unlinks up to 16 clusters at once. Entries: {@code LLM_NOT_YET_LINK}; {@code LLM_LINK_BUSY}
     * while a transfer runs on the link, which then stays; {@code LLM_NOTIFY_PROMPT_UNLINK_FAILED}
     * when the peer could not be told, although this side is clean; {@code LLM_UNLINK_FAILED} when
     * the peer answered with an error. The whole call: as for linking.
     *
     * @param force only cleans up here, tells nobody, and ends what runs on the link
     */
    public LinkResult unlinkClusters(List<ClusterInfo> clusters, Duration timeout, boolean force) {
        return linkCall(open -> open.links().unlink(clusters, timeout, force));
    }

    /** {@link #linkClusters(List, Duration)} on another thread. */
    public CompletableFuture<LinkResult> linkClustersAsync(
            List<ClusterInfo> clusters, Duration timeout) {
        return async(() -> linkClusters(clusters, timeout));
    }

    /** Within {@code llm.SyncKvCacheWaitTime}. */
    public Outcome<Done> checkLinkStatus(long remoteClusterId) {
        return checkLinkStatus(remoteClusterId, Optional.empty());
    }

    /** Within that time. */
    public Outcome<Done> checkLinkStatus(long remoteClusterId, Duration timeout) {
        return checkLinkStatus(remoteClusterId, Optional.of(timeout));
    }

    private Outcome<Done> checkLinkStatus(long remoteClusterId, Optional<Duration> timeout) {
        return call(
                "checkLinkStatus",
                open ->
                        Roles.require(open, LlmRole.DECODER, "check a link")
                                .then(
                                        ok ->
                                                open.links()
                                                        .check(
                                                                remoteClusterId,
                                                                deadline(open, timeout))));
    }

    // ---- Caches ----

    public Outcome<Cache> allocateCache(CacheDesc desc) {
        return allocateCache(desc, List.of());
    }

    /**
     * Takes a cache from the pool of its placement. {@code LLM_DEVICE_OUT_OF_MEMORY} or {@code
     * LLM_OUT_OF_MEMORY} when that is exhausted, {@code LLM_FEATURE_NOT_ENABLED} when it is
     * configured off, {@code LLM_PARAM_INVALID} for a description or keys that do not fit, or that
     * name a live cache.
     *
     * @param keys keys by batch; {@link CacheKey#placeholder()} for a batch without one
     */
    public Outcome<Cache> allocateCache(CacheDesc desc, List<CacheKey> keys) {
        return call("allocateCache", open -> Caches.allocate(open, desc, keys));
    }

    public Outcome<Cache> allocateBlocksCache(CacheDesc desc) {
        return call("allocateBlocksCache", open -> Caches.allocate(open, desc, Optional.empty()));
    }

    /** A cache of blocks, with a name. The failures of {@link #allocateCache(CacheDesc, List)}. */
    public Outcome<Cache> allocateBlocksCache(CacheDesc desc, BlocksCacheKey key) {
        return call("allocateBlocksCache", open -> Caches.allocate(open, desc, Optional.of(key)));
    }

    /**
     * Drops the number of an allocated cache. Its memory is given back when every key of it was
     * pulled or removed too, and no transfer uses it. {@code LLM_KV_CACHE_NOT_EXIST} for an unknown
     * one.
     */
    public Outcome<Done> deallocateCache(Cache cache) {
        return call(
                "deallocateCache " + cache.cacheId(),
                open -> open.caches().deallocate(cache.cacheId()));
    }

    public Outcome<Cache> registerCache(CacheDesc desc, List<MemorySegment> tensors) {
        return registerCache(desc, tensors, List.of());
    }

    /**
     * Makes memory of the caller a cache that peers may read; it has to stay until {@link
     * #unregisterCache}. {@code LLM_PARAM_INVALID} for a number or size of tensors that is not that
     * of the description, heap memory, memory that overlaps other registered memory in part, and
     * keys as for {@link #allocateCache(CacheDesc, List)}.
     */
    public Outcome<Cache> registerCache(
            CacheDesc desc, List<MemorySegment> tensors, List<CacheKey> keys) {
        return call("registerCache", open -> Caches.register(open, desc, tensors, keys));
    }

    /** By raw addresses; the caller answers for the memory being there. */
    public Outcome<Cache> registerCache(CacheDesc desc, long[] tensorAddrs) {
        return call("registerCache", open -> Caches.register(open, desc, tensorAddrs));
    }

    /** A cache of blocks in memory of the caller, with a name. */
    public Outcome<Cache> registerBlocksCache(
            CacheDesc desc, List<MemorySegment> tensors, BlocksCacheKey key) {
        return call("registerBlocksCache", open -> Caches.register(open, desc, tensors, key));
    }

    /**
     * Takes registered memory away from peers; on success nobody touches it any more. An unknown
     * cache is fine. {@code LLM_WAIT_PROC_TIMEOUT} when a transfer still used it after {@code
     * llm.SyncKvCacheWaitTime}: it stays registered.
     */
    public Outcome<Done> unregisterCache(long cacheId) {
        return call(
                "unregisterCache " + cacheId,
                open -> open.caches().unregister(cacheId, deadline(open, Optional.empty())));
    }

    /**
     * Drops a key, and with the last one the memory of a deallocated cache. Unknown ones are fine.
     */
    public Outcome<Done> removeCacheKey(CacheKey key) {
        return call("removeCacheKey", open -> Caches.removeKey(open, key));
    }

    /** Drops the name of a block cache. An unknown one is fine. */
    public Outcome<Done> removeCacheKey(BlocksCacheKey key) {
        return call("removeCacheKey", open -> Caches.removeKey(open, key));
    }

    // ---- Transfers ----

    /** The whole of it into batch 0. */
    public Outcome<TransferReport> pullCache(CacheRef source, Cache destination) {
        return pullCache(source, destination, 0, TransferOptions.DEFAULT);
    }

    /**
     * Reads one batch of a peer's cache into one batch of a cache here. Checked in this order:
     * {@code LLM_KV_CACHE_NOT_EXIST} for the destination, {@code LLM_PARAM_INVALID} for local
     * arguments, {@code LLM_NOT_YET_LINK} and {@code LLM_LINK_BUSY}, the owner's {@code
     * LLM_KV_CACHE_NOT_EXIST} (unknown, consumed, no such batch) and {@code LLM_PARAM_INVALID}.
     * Once asked for, a timeout or an I/O failure breaks the link: {@code LLM_WAIT_PROC_TIMEOUT}
     * when the owner did not answer, {@code LLM_TIMEOUT} when the bytes did not come, {@code
     * LLM_FAILED}; the destination is undefined then. A request key is consumed by success only.
     */
    public Outcome<TransferReport> pullCache(
            CacheRef source, Cache destination, int batchIndex, TransferOptions options) {
        return call(
                "pullCache",
                open ->
                        Roles.require(open, LlmRole.DECODER, "pull")
                                .then(
                                        ok ->
                                                open.transfers()
                                                        .pullBatch(
                                                                source,
                                                                destination.cacheId(),
                                                                batchIndex,
                                                                Caches.keyWait(open, options),
                                                                timeout(open, options))));
    }

    public Outcome<TransferReport> pullBlocks(
            CacheRef source, Cache destination, long[] srcBlocks, long[] dstBlocks) {
        return pullBlocks(source, destination, srcBlocks, dstBlocks, TransferOptions.DEFAULT);
    }

    /**
     * Reads blocks {@code srcBlocks[i]} of a peer's cache into blocks {@code dstBlocks[i]} here;
     * with no source blocks, one batch of the source from its start. The codes of {@link
     * #pullCache}; block lists of different length, blocks that do not exist and block sizes that
     * differ are {@code LLM_PARAM_INVALID}. Where a destination block stands twice, which bytes it
     * holds is not defined.
     */
    public Outcome<TransferReport> pullBlocks(
            CacheRef source,
            Cache destination,
            long[] srcBlocks,
            long[] dstBlocks,
            TransferOptions options) {
        return call(
                "pullBlocks",
                open ->
                        Roles.require(open, LlmRole.DECODER, "pull")
                                .then(
                                        ok ->
                                                open.transfers()
                                                        .pullBlocks(
                                                                source,
                                                                destination.cacheId(),
                                                                srcBlocks,
                                                                dstBlocks,
                                                                Caches.keyWait(open, options),
                                                                timeout(open, options))));
    }

    /** Batch 0, all layers. */
    public Outcome<TransferReport> pushCache(Cache source, CacheIndex destination) {
        return pushCache(source, destination, 0, TransferOptions.DEFAULT);
    }

    /**
     * Lets a peer read one batch of a cache here into one batch of its own. The codes of {@link
     * #pullCache}, with this side's cache and arguments first and the receiver's after; a size
     * other than -1 is {@code LLM_PARAM_INVALID}. The receiver gets a {@link TransferEvent}.
     */
    public Outcome<TransferReport> pushCache(
            Cache source, CacheIndex destination, int srcBatchIndex, TransferOptions options) {
        return call(
                "pushCache",
                open ->
                        Roles.require(open, LlmRole.PROMPT, "push")
                                .then(
                                        ok ->
                                                open.transfers()
                                                        .pushBatch(
                                                                source.cacheId(),
                                                                destination,
                                                                srcBatchIndex,
                                                                options,
                                                                timeout(open, options))));
    }

    public Outcome<TransferReport> pushBlocks(
            Cache source, CacheRef destination, long[] srcBlocks, long[] dstBlocks) {
        return pushBlocks(source, destination, srcBlocks, dstBlocks, TransferOptions.DEFAULT);
    }

    /** Lets a peer read blocks of a cache here into blocks of its own; the codes of the others. */
    public Outcome<TransferReport> pushBlocks(
            Cache source,
            CacheRef destination,
            long[] srcBlocks,
            long[] dstBlocks,
            TransferOptions options) {
        return call(
                "pushBlocks",
                open ->
                        Roles.require(open, LlmRole.PROMPT, "push")
                                .then(
                                        ok ->
                                                open.transfers()
                                                        .pushBlocks(
                                                                source.cacheId(),
                                                                destination,
                                                                srcBlocks,
                                                                dstBlocks,
                                                                options,
                                                                timeout(open, options))));
    }

    /**
     * Pushes layers as the model writes them. {@code LLM_KV_CACHE_NOT_EXIST} and {@code
     * LLM_PARAM_INVALID} at once; everything later stands in the task's results, one per
     * configuration.
     */
    public Outcome<CacheTask> transferCacheAsync(
            Cache source,
            LayerSynchronizer synchronizer,
            List<LayerPushConfig> configs,
            LayerBlocks blocks) {
        return call(
                "transferCacheAsync",
                open ->
                        Roles.require(open, LlmRole.PROMPT, "push")
                                .then(
                                        ok ->
                                                open.layers()
                                                        .start(
                                                                source.cacheId(),
                                                                synchronizer,
                                                                configs,
                                                                blocks,
                                                                open.options().syncTimeout())));
    }

    /** {@link #pullCache} on another thread. */
    public CompletableFuture<Outcome<TransferReport>> pullCacheAsync(
            CacheRef source, Cache destination, int batchIndex, TransferOptions options) {
        return async(() -> pullCache(source, destination, batchIndex, options));
    }

    /** {@link #pullBlocks} on another thread. */
    public CompletableFuture<Outcome<TransferReport>> pullBlocksAsync(
            CacheRef source,
            Cache destination,
            long[] srcBlocks,
            long[] dstBlocks,
            TransferOptions options) {
        return async(() -> pullBlocks(source, destination, srcBlocks, dstBlocks, options));
    }

    /** {@link #pushCache} on another thread. */
    public CompletableFuture<Outcome<TransferReport>> pushCacheAsync(
            Cache source, CacheIndex destination, int srcBatchIndex, TransferOptions options) {
        return async(() -> pushCache(source, destination, srcBatchIndex, options));
    }

    /** {@link #pushBlocks} on another thread. */
    public CompletableFuture<Outcome<TransferReport>> pushBlocksAsync(
            Cache source,
            CacheRef destination,
            long[] srcBlocks,
            long[] dstBlocks,
            TransferOptions options) {
        return async(() -> pushBlocks(source, destination, srcBlocks, dstBlocks, options));
    }

    // ---- Copies ----

    /**
     * Copies a part of one batch between caches here. {@code LLM_KV_CACHE_NOT_EXIST}; {@code
     * LLM_PARAM_INVALID} for a host-tagged source, ranges that do not fit, tensor counts that
     * differ; {@code LLM_WAIT_PROC_TIMEOUT} when other copies took all of {@code
     * llm.SyncKvCacheWaitTime}.
     */
    public Outcome<Done> copyCache(BatchCopy copy) {
        return call(
                "copyCache", open -> open.copies().batch(copy, deadline(open, Optional.empty())));
    }

    /** Copies blocks {@code srcBlocks[i]} to block {@code i} of each list, between caches here. */
    public Outcome<Done> copyBlocks(
            Cache source, Cache destination, long[] srcBlocks, List<long[]> dstBlocks) {
        return call(
                "copyBlocks",
                open ->
                        open.copies()
                                .blocks(
                                        source,
                                        destination,
                                        srcBlocks,
                                        dstBlocks,
                                        deadline(open, Optional.empty())));
    }

    /** Copies each source block to all its destination blocks, inside one cache. */
    public Outcome<Done> copyBlocks(Cache cache, Map<Long, List<Long>> mapping) {
        return call(
                "copyBlocks",
                open -> Caches.copyInside(open, cache, mapping, deadline(open, Optional.empty())));
    }

    /**
     * Copies blocks between a device-tagged and a host-tagged cache, either way.
     *
     * @param mapping source block to destination block
     */
    public Outcome<Done> swapBlocks(Cache source, Cache destination, Map<Long, Long> mapping) {
        return call(
                "swapBlocks",
                open ->
                        open.copies()
                                .swap(
                                        source,
                                        destination,
                                        mapping,
                                        deadline(open, Optional.empty())));
    }

    // ---- What there is ----

    /** Where this instance listens, with the real port; empty when it does not. */
    public Optional<IpInfo> listenAddress() {
        return look(open -> open.links().listenAddress(), Optional.empty());
    }

    /**
     * Name of this instance's memory on the data plane, which {@code cassia probe} takes; empty
     * before initialize.
     */
    public Optional<String> segmentName() {
        return look(open -> Optional.of(open.segmentName()), Optional.empty());
    }

    /** All links in any state. */
    public List<LinkInfo> links() {
        return look(open -> open.links().infos(), List.of());
    }

    /** What broke the link with a cluster; empty when it is not broken. */
    public String whyBroken(long remoteClusterId) {
        return links().stream()
                .filter(link -> link.peerId() == remoteClusterId)
                .map(LinkInfo::whyBroken)
                .findFirst()
                .orElse("");
    }

    /** All caches, those that only a key or a transfer holds included. */
    public List<CacheInfo> caches() {
        return look(open -> open.caches().caches(), List.of());
    }

    /** All bound keys, oldest first. */
    public List<KeyInfo> cacheKeys() {
        return look(open -> open.caches().keys(), List.of());
    }

    /** A pool at this moment; empty when nothing was ever taken from it. */
    public Optional<PoolStats> poolStats(Placement placement) {
        return look(open -> open.pools().stats(placement), Optional.empty());
    }

    /** The options in force; empty before initialize. */
    public Optional<DataDistOptions> options() {
        return look(open -> Optional.of(open.options()), Optional.empty());
    }

    /** Takes the oldest ends of transfers that peers began; the last 4096 are kept. */
    public List<TransferEvent> pollTransferEvents(int max) {
        return look(open -> open.exchange().events().poll(max), List.of());
    }

    /** Hears of transfers that peers began, until close. {@code LLM_FAILED} before initialize. */
    public Outcome<Done> addTransferListener(TransferListener listener) {
        return call(
                "addTransferListener",
                open -> {
                    open.exchange().events().addListener(listener);
                    return Outcome.done();
                });
    }

    /**
     * Hears of links that come, break and go, until close. {@code LLM_FAILED} before initialize.
     */
    public Outcome<Done> addLinkListener(LinkListener listener) {
        return call(
                "addLinkListener",
                open -> {
                    open.links().addListener(listener);
                    return Outcome.done();
                });
    }

    // ---- Inside ----

    private <T> CompletableFuture<T> async(Supplier<T> call) {
        Instance open = instance;
        return open == null
                ? CompletableFuture.completedFuture(call.get())
                : open.async().start(call);
    }

    private <T> Outcome<T> call(String what, Function<Instance, Outcome<T>> body) {
        Instance open = instance;
        if (open == null) {
            return notInitialized(what);
        }
        Lock call = open.call();
        if (!call.tryLock()) {
            return notInitialized(what);
        }
        try {
            Outcome<T> outcome = body.apply(open);
            return outcome instanceof Outcome.Failed<T> failed ? failed.in(what) : outcome;
        } finally {
            call.unlock();
        }
    }

    private <T> Outcome<T> notInitialized(String what) {
        return Outcome.failed(
                LlmStatus.LLM_FAILED,
                "%s: cluster %s is not initialised: initialize it first"
                        .formatted(what, Long.toUnsignedString(clusterId)));
    }

    private LinkResult linkCall(Function<Instance, LinkResult> body) {
        Outcome<LinkResult> outcome = call("linking", open -> Outcome.ok(body.apply(open)));
        return switch (outcome) {
            case Outcome.Ok<LinkResult>(LinkResult result) -> result;
            case Outcome.Failed<LinkResult>(Code code, String detail) ->
                    new LinkResult(Outcome.failed(code, detail), List.of());
        };
    }

    private <T> T look(Function<Instance, T> body, T otherwise) {
        Instance open = instance;
        return open == null ? otherwise : body.apply(open);
    }

    private static Duration timeout(Instance open, TransferOptions options) {
        return options.timeout().orElse(open.options().syncTimeout());
    }

    private static long deadline(Instance open, Optional<Duration> timeout) {
        return Deadline.after(open.clock(), timeout.orElse(open.options().syncTimeout())).atNanos();
    }
}
