package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.TaskInfo;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The calls of a {@link StoreClient} without waiting for their end. Thread-safe. Stages complete
 * with the outcome, never exceptionally but for bugs such as lists of different lengths; the
 * caller's memory is in use until then, and must be accessible from any thread.
 *
 * <p>At most {@value #THREADS} calls run at once and {@value #QUEUED} wait; more are refused with
 * UNAVAILABLE_IN_CURRENT_STATUS.
 */
public final class AsyncStoreClient implements AutoCloseable {
    static final int THREADS = 8;
    static final int QUEUED = 4096;

    private final StoreClient client;
    private final Counter refused;
    private final ThreadPoolExecutor threads;

    AsyncStoreClient(StoreClient client, MeterRegistry meters) {
        this.client = client;
        this.refused =
                Counter.builder("cassia_store_async_refused")
                        .description("Calls without waiting that were one too many")
                        .register(meters);
        this.threads =
                new ThreadPoolExecutor(
                        THREADS,
                        THREADS,
                        10,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(QUEUED),
                        Thread.ofPlatform().daemon().name("cassia-store-", 0).factory());
        threads.allowCoreThreadTimeOut(true);
    }

    private <T> CompletionStage<T> run(Supplier<T> call, Supplier<T> whenRefused) {
        try {
            return CompletableFuture.supplyAsync(call, threads).minimalCompletionStage();
        } catch (RejectedExecutionException e) {
            refused.increment();
            return CompletableFuture.completedStage(whenRefused.get());
        }
    }

    private <T> CompletionStage<Outcome<T>> one(Supplier<Outcome<T>> call) {
        return run(call, AsyncStoreClient::tooMany);
    }

    private <T> CompletionStage<List<Outcome<T>>> batch(int size, Supplier<List<Outcome<T>>> call) {
        return run(call, () -> Collections.nCopies(size, tooMany()));
    }

    private static <T> Outcome<T> tooMany() {
        return Outcome.failed(
                StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                THREADS + " calls are running and " + QUEUED + " wait, or the client is closed");
    }

    /** {@link StoreClient#put(ByteString, MemorySegment, PutOptions)}. */
    public CompletionStage<Outcome<Done>> put(
            ByteString key, MemorySegment value, PutOptions options) {
        return one(() -> client.put(key, value, options));
    }

    /** {@link StoreClient#put(ByteString, byte[], PutOptions)}. */
    public CompletionStage<Outcome<Done>> put(ByteString key, byte[] value, PutOptions options) {
        return one(() -> client.put(key, value, options));
    }

    /** {@link StoreClient#putVersion}. */
    public CompletionStage<Outcome<Long>> putVersion(
            ByteString key, MemorySegment value, PutOptions options) {
        return one(() -> client.putVersion(key, value, options));
    }

    /** {@link StoreClient#putBatch}. */
    public CompletionStage<List<Outcome<Done>>> putBatch(
            List<ByteString> keys, List<MemorySegment> values, PutOptions options) {
        return batch(keys.size(), () -> client.putBatch(keys, values, options));
    }

    /** {@link StoreClient#putParts}. */
    public CompletionStage<Outcome<Done>> putParts(
            ByteString key, List<MemorySegment> parts, PutOptions options) {
        return one(() -> client.putParts(key, parts, options));
    }

    /** {@link StoreClient#putPartsBatch}. */
    public CompletionStage<List<Outcome<Done>>> putPartsBatch(
            List<ByteString> keys, List<List<MemorySegment>> values, PutOptions options) {
        return batch(keys.size(), () -> client.putPartsBatch(keys, values, options));
    }

    /** {@link StoreClient#upsert}. */
    public CompletionStage<Outcome<Done>> upsert(
            ByteString key, MemorySegment value, PutOptions options) {
        return one(() -> client.upsert(key, value, options));
    }

    /** {@link StoreClient#upsertBatch}. */
    public CompletionStage<List<Outcome<Done>>> upsertBatch(
            List<ByteString> keys, List<MemorySegment> values, PutOptions options) {
        return batch(keys.size(), () -> client.upsertBatch(keys, values, options));
    }

    /** {@link StoreClient#openWrite}. */
    public CompletionStage<Outcome<WriteSession>> openWrite(
            ByteString key, long sizeBytes, PutOptions options) {
        return one(() -> client.openWrite(key, sizeBytes, options));
    }

    /** {@link StoreClient#openWriteBatch}. */
    public CompletionStage<Outcome<BatchWriteSession>> openWriteBatch(
            List<ByteString> keys, List<Long> sizesBytes, PutOptions options) {
        return one(() -> client.openWriteBatch(keys, sizesBytes, options));
    }

    /** {@link StoreClient#get}. */
    public CompletionStage<Outcome<Long>> get(ByteString key, MemorySegment into) {
        return one(() -> client.get(key, into));
    }

    /** {@link StoreClient#getBytes}. */
    public CompletionStage<Outcome<byte[]>> getBytes(ByteString key) {
        return one(() -> client.getBytes(key));
    }

    /** {@link StoreClient#getBatch}. */
    public CompletionStage<List<Outcome<Long>>> getBatch(
            List<ByteString> keys, List<MemorySegment> into) {
        return batch(keys.size(), () -> client.getBatch(keys, into));
    }

    /** {@link StoreClient#getParts}. */
    public CompletionStage<Outcome<Long>> getParts(ByteString key, List<MemorySegment> into) {
        return one(() -> client.getParts(key, into));
    }

    /** {@link StoreClient#getPartsBatch}. */
    public CompletionStage<List<Outcome<Long>>> getPartsBatch(
            List<ByteString> keys, List<List<MemorySegment>> into) {
        return batch(keys.size(), () -> client.getPartsBatch(keys, into));
    }

    /** {@link StoreClient#getRange}. */
    public CompletionStage<Outcome<Long>> getRange(
            ByteString key, long offsetBytes, MemorySegment into) {
        return one(() -> client.getRange(key, offsetBytes, into));
    }

    /** {@link StoreClient#getRanges}. */
    public CompletionStage<List<Outcome<Long>>> getRanges(List<RangeRead> ranges) {
        return batch(ranges.size(), () -> client.getRanges(ranges));
    }

    /** {@link StoreClient#getPrefix}; a refused call is one failure. */
    public CompletionStage<List<Outcome<Long>>> getPrefix(
            List<ByteString> keys, List<MemorySegment> into) {
        return batch(Math.min(1, keys.size()), () -> client.getPrefix(keys, into));
    }

    /** {@link StoreClient#longestPrefix}. */
    public CompletionStage<Outcome<Integer>> longestPrefix(List<ByteString> keys) {
        return one(() -> client.longestPrefix(keys));
    }

    /** {@link StoreClient#openRead}. */
    public CompletionStage<Outcome<ReadSession>> openRead(List<ByteString> keys) {
        return one(() -> client.openRead(keys));
    }

    /** {@link StoreClient#openStream}. */
    public CompletionStage<Outcome<ObjectStream>> openStream(ByteString key) {
        return one(() -> client.openStream(key));
    }

    /** {@link StoreClient#exists}. */
    public CompletionStage<Outcome<Boolean>> exists(ByteString key) {
        return one(() -> client.exists(key));
    }

    /** {@link StoreClient#existsBatch}. */
    public CompletionStage<List<Outcome<Boolean>>> existsBatch(List<ByteString> keys) {
        return batch(keys.size(), () -> client.existsBatch(keys));
    }

    /** {@link StoreClient#info}. */
    public CompletionStage<Outcome<ObjectInfo>> info(ByteString key) {
        return one(() -> client.info(key));
    }

    /** {@link StoreClient#infoBatch}. */
    public CompletionStage<List<Outcome<ObjectInfo>>> infoBatch(List<ByteString> keys) {
        return batch(keys.size(), () -> client.infoBatch(keys));
    }

    /** {@link StoreClient#size}. */
    public CompletionStage<Outcome<Long>> size(ByteString key) {
        return one(() -> client.size(key));
    }

    /** {@link StoreClient#replicas}. */
    public CompletionStage<Outcome<List<ReplicaDescriptor>>> replicas(ByteString key) {
        return one(() -> client.replicas(key));
    }

    /** {@link StoreClient#replicasByRegex}. */
    public CompletionStage<Outcome<Map<ByteString, List<ReplicaDescriptor>>>> replicasByRegex(
            String pattern) {
        return one(() -> client.replicasByRegex(pattern));
    }

    /** {@link StoreClient#list}. */
    public CompletionStage<Outcome<List<KeyInfo>>> list(
            ByteString prefix, ByteString after, int limit) {
        return one(() -> client.list(prefix, after, limit));
    }

    /** {@link StoreClient#stats}. */
    public CompletionStage<Outcome<Stats>> stats() {
        return one(client::stats);
    }

    /** {@link StoreClient#health}. */
    public CompletionStage<Outcome<Done>> health() {
        return one(client::health);
    }

    /** {@link StoreClient#remove}. */
    public CompletionStage<Outcome<Done>> remove(ByteString key, boolean force) {
        return one(() -> client.remove(key, force));
    }

    /** {@link StoreClient#removeBatch}. */
    public CompletionStage<List<Outcome<Done>>> removeBatch(List<ByteString> keys, boolean force) {
        return batch(keys.size(), () -> client.removeBatch(keys, force));
    }

    /** {@link StoreClient#removeByRegex}. */
    public CompletionStage<Outcome<Long>> removeByRegex(String pattern, boolean force) {
        return one(() -> client.removeByRegex(pattern, force));
    }

    /** {@link StoreClient#clearReplicas}. */
    public CompletionStage<Outcome<List<String>>> clearReplicas(
            List<ByteString> keys, String segment) {
        return one(() -> client.clearReplicas(keys, segment));
    }

    /** {@link StoreClient#removeAll}. */
    public CompletionStage<Outcome<Long>> removeAll(boolean force) {
        return one(() -> client.removeAll(force));
    }

    /** {@link StoreClient#copy}. */
    public CompletionStage<Outcome<Uuid>> copy(ByteString key, List<String> targets) {
        return one(() -> client.copy(key, targets));
    }

    /** {@link StoreClient#move}. */
    public CompletionStage<Outcome<Uuid>> move(ByteString key, String source, String target) {
        return one(() -> client.move(key, source, target));
    }

    /** {@link StoreClient#task}. */
    public CompletionStage<Outcome<TaskInfo>> task(Uuid id) {
        return one(() -> client.task(id));
    }

    /** {@link StoreClient#awaitTask}; takes one of the threads until the task has ended. */
    public CompletionStage<Outcome<Done>> awaitTask(Uuid id) {
        return one(() -> client.awaitTask(id));
    }

    /** Lets what runs end; what waits is run too. */
    @Override
    public void close() {
        threads.shutdown();
        boolean interrupted = Thread.interrupted();
        try {
            if (!threads.awaitTermination(5, TimeUnit.SECONDS)) {
                threads.shutdownNow();
            }
        } catch (InterruptedException e) {
            threads.shutdownNow();
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
