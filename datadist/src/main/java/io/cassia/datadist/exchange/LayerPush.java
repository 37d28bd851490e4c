package io.cassia.datadist.exchange;

import io.cassia.datadist.cache.CacheTable;
import io.cassia.datadist.cache.Geometry;
import io.cassia.datadist.cache.LayerRange;
import io.cassia.datadist.cache.Pin;
import io.cassia.datadist.cache.TensorSelection;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Pushes a cache layer by layer as the model writes it. Immutable; each task has a thread.
 *
 * <p>Two tensors make a layer. Layers go in order; each goes to all configurations that want it, in
 * their order; the first failure ends the task.
 */
public final class LayerPush {
    private final CacheTable caches;
    private final Transfers transfers;

    public LayerPush(CacheTable caches, Transfers transfers) {
        this.caches = caches;
        this.transfers = transfers;
    }

    /** One configuration with its range spelled out. Immutable. */
    private record Job(int index, LayerPushConfig config, LayerRange src, LayerRange dst) {
        boolean wants(int layer) {
            return layer >= src.first() && layer <= src.last();
        }

        int dstLayer(int layer) {
            return dst.first() + (layer - src.first());
        }
    }

    /**
     * Starts a task. {@code LLM_KV_CACHE_NOT_EXIST} for an unknown source; {@code
     * LLM_PARAM_INVALID} for an odd number of tensors, no configuration, ranges that do not fit or
     * differ in length, a number of addresses other than two per layer, and blocks pushed into a
     * batch.
     *
     * @param layerTimeout limit of each layer to each destination
     */
    public Outcome<CacheTask> start(
            long srcCacheId,
            LayerSynchronizer synchronizer,
            List<LayerPushConfig> configs,
            LayerBlocks blocks,
            Duration layerTimeout) {
        return switch (caches.pin(srcCacheId)) {
            case Outcome.Failed<Pin> failed -> failed.in("source");
            case Outcome.Ok<Pin>(Pin pin) -> {
                Outcome<List<Job>> jobs = jobs(pin.geometry(), configs, blocks);
                if (jobs instanceof Outcome.Failed<List<Job>> failed) {
                    pin.close();
                    yield failed.as();
                }
                yield Outcome.ok(
                        started(
                                new Run(pin, synchronizer, jobs.orThrow(), blocks, layerTimeout),
                                configs.size()));
            }
        };
    }

    private CacheTask started(Run run, int configs) {
        CacheTask task = new CacheTask(configs);
        Thread.ofPlatform()
                .daemon()
                .name("datadist-layers-" + run.pin().cacheId())
                .start(
                        () -> {
                            try {
                                run(run, task);
                            } finally {
                                run.pin().close();
                                task.finish();
                            }
                        });
        return task;
    }

    /** What a task works on. Immutable. */
    private record Run(
            Pin pin,
            LayerSynchronizer synchronizer,
            List<Job> jobs,
            LayerBlocks blocks,
            Duration layerTimeout) {}

    private void run(Run run, CacheTask task) {
        int layers = run.pin().geometry().numTensors() / 2;
        for (int layer = 0; layer < layers; layer++) {
            int current = layer;
            List<Job> wanted = run.jobs().stream().filter(job -> job.wants(current)).toList();
            if (!wanted.isEmpty() && !layer(run, task, layer, wanted)) {
                return;
            }
        }
    }

    /** False when the task has to end. */
    private boolean layer(Run run, CacheTask task, int layer, List<Job> wanted) {
        Outcome<Done> ready = synchronizeLayer(run, layer);
        if (!ready.isOk()) {
            wanted.forEach(job -> task.set(job.index(), ready));
            return false;
        }
        for (Job job : wanted) {
            Outcome<Done> sent = send(run, job, layer);
            if (!sent.isOk()) {
                task.set(job.index(), sent);
                return false;
            }
            if (layer == job.src().last()) {
                task.set(job.index(), sent);
            }
        }
        return true;
    }

    private static Outcome<Done> synchronizeLayer(Run run, int layer) {
        try {
            return run.synchronizer().synchronizeLayer(layer)
                    ? Outcome.done()
                    : invalid("the synchronizer gave layer " + layer + " up");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Outcome.failed(LlmStatus.LLM_FAILED, "interrupted before layer " + layer);
        } catch (RuntimeException e) {
            return Outcome.failed(
                    LlmStatus.LLM_FAILED, "the synchronizer failed at layer " + layer + ": " + e);
        }
    }

    private Outcome<Done> send(Run run, Job job, int layer) {
        TransferOptions options =
                TransferOptions.DEFAULT.withLayers(
                        LayerRange.single(layer), LayerRange.single(job.dstLayer(layer)));
        return switch (transfers
                .pushes()
                .run(
                        job.config().clusterId(),
                        run.pin().cacheId(),
                        geometry -> plan(geometry, run, job, layer, options),
                        true,
                        Budget.of(transfers.clock(), run.layerTimeout()))) {
            case Outcome.Ok<TransferReport> ok -> Outcome.done();
            case Outcome.Failed<TransferReport> failed ->
                    failed.in("layer %d to layer %d".formatted(layer, job.dstLayer(layer)));
        };
    }

    private static Outcome<PushPlan> plan(
            Geometry geometry, Run run, Job job, int layer, TransferOptions options) {
        LayerBlocks blocks = run.blocks();
        PushTarget target = target(geometry, job, layer, options, blocks);
        int batch = job.config().srcBatch();
        if (blocks.isBatchToBatch()) {
            return PushPlans.batch(geometry, batch, target, options);
        }
        return blocks.isBatchToBlocks()
                ? PushPlans.batchToBlocks(
                        geometry, batch, blocks.dst(), blocks.dstBlockBytes(), target, options)
                : PushPlans.blocks(geometry, blocks.src(), blocks.dst(), target, options);
    }

    private static PushTarget target(
            Geometry geometry, Job job, int layer, TransferOptions options, LayerBlocks blocks) {
        return switch (job.config()) {
            case LayerPushConfig.ToCache config -> PushPlans.toCache(config.destination(), options);
            case LayerPushConfig.ToAddresses config -> {
                int at = 2 * (layer - job.src().first());
                yield new PushTarget.ToAddresses(
                        config.dstAddrs().subList(at, at + 2), room(geometry, blocks));
            }
        };
    }

    /** Bytes behind each address that a layer writes at most. */
    private static long room(Geometry geometry, LayerBlocks blocks) {
        long unit = blocks.isBatchToBlocks() ? blocks.dstBlockBytes() : geometry.strideBytes();
        long max = 0;
        for (long block : blocks.dst()) {
            max = Math.max(max, block);
        }
        return (max + 1) * unit;
    }

    private static Outcome<List<Job>> jobs(
            Geometry geometry, List<LayerPushConfig> configs, LayerBlocks blocks) {
        if (geometry.numTensors() % 2 != 0) {
            return invalid(geometry.numTensors() + " tensors: two make a layer");
        }
        if (configs.isEmpty()) {
            return invalid("no destination");
        }
        if (blocks.isBlocksToBatch()) {
            return invalid("blocks cannot be pushed into a batch");
        }
        if (blocks.isBatchToBlocks() && blocks.dstBlockBytes() < 1) {
            return invalid("a batch is cut into blocks: how large are they?");
        }
        List<Job> jobs = new ArrayList<>();
        for (LayerPushConfig config : configs) {
            switch (job(geometry, jobs.size(), config)) {
                case Outcome.Ok<Job>(Job job) -> jobs.add(job);
                case Outcome.Failed<Job> failed -> {
                    return failed.in("configuration " + jobs.size());
                }
            }
        }
        return Outcome.ok(jobs);
    }

    private static Outcome<Job> job(Geometry geometry, int index, LayerPushConfig config) {
        int layers = geometry.numTensors() / 2;
        LayerRange src =
                config.srcLayers().isAll() ? new LayerRange(0, layers - 1) : config.srcLayers();
        if (config.srcBatch() < 0 || config.srcBatch() >= geometry.batches()) {
            return invalid("source batch " + config.srcBatch() + " does not exist");
        }
        return TensorSelection.of(geometry.numTensors(), 2, src, true)
                .then(
                        ok ->
                                switch (config) {
                                    case LayerPushConfig.ToCache to -> toCache(index, to, src);
                                    case LayerPushConfig.ToAddresses to ->
                                            toAddresses(index, to, src);
                                });
    }

    private static Outcome<Job> toCache(int index, LayerPushConfig.ToCache config, LayerRange src) {
        if (config.dstLayers().isAll() && !config.srcLayers().isAll()) {
            return invalid("source " + src + " without destination layers");
        }
        LayerRange dst = config.dstLayers().isAll() ? src : config.dstLayers();
        if (dst.check() instanceof Outcome.Failed<Done> failed) {
            return failed.as();
        }
        return dst.count() == src.count()
                ? Outcome.ok(new Job(index, config, src, dst))
                : invalid("source %s and destination %s differ in number".formatted(src, dst));
    }

    private static Outcome<Job> toAddresses(
            int index, LayerPushConfig.ToAddresses config, LayerRange src) {
        return config.dstAddrs().size() == 2 * src.count()
                ? Outcome.ok(new Job(index, config, src, new LayerRange(0, src.count() - 1)))
                : invalid(
                        "%d addresses for %d layers, two per layer are needed"
                                .formatted(config.dstAddrs().size(), src.count()));
    }

    private static <T> Outcome<T> invalid(String detail) {
        return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, detail);
    }
}
