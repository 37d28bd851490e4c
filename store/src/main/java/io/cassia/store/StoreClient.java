package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.base.Entropy;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.ListKeys;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.TaskInfo;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.CassiaException;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.transfer.TransferEngine;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * A client of the object store: reads and writes nodes' memory one-sidedly, asks the master only
 * for descriptors. Thread-safe. Every call ends within the configured deadline; {@link #async} has
 * the same calls without waiting.
 *
 * <p>A value is any number of bytes from 1; an empty one is INVALID_PARAMS, as upstream. Memory is
 * native and needs no registration; forms for byte arrays copy through the client's local buffer. A
 * version of an object never changes: what was read is one version, proved by its checksums, under
 * a lease.
 *
 * <p>A batch call takes lists in which the values of one key stand at the same place. Lists of
 * different lengths are a fault of the program and no outcome of a key: the call throws a {@link
 * CassiaException} with INVALID_PARAMS and does nothing.
 *
 * <p>Any call may fail with RPC_FAIL when the master cannot be reached and with RPC_TIMEOUT when it
 * does not answer in time. A call that changes nothing is then tried again for a while ({@link
 * StoreClientConfig.Calls}); one that does is not, and its detail says what may have happened.
 */
public final class StoreClient implements AutoCloseable {
    /** Window of a stream. */
    private static final long STREAM_BYTES = 1 << 20;

    /** Between two questions for a task's state. */
    private static final Duration TASK_STEP = Duration.ofMillis(50);

    private final StoreClientConfig config;
    private final Clock clock;
    private final Uuid id;
    private final ByteString tenant;
    private final TransferEngine engine;
    private final MasterLink master;
    private final Transfers transfers;
    private final Staging staging;
    private final SumWorkers workers;
    private final Reservations reservations;
    private final Writes writes;
    private final Reads reads;
    private final AsyncStoreClient async;

    private StoreClient(
            StoreClientConfig config,
            Clock clock,
            Uuid id,
            TransferEngine engine,
            MasterLink master,
            MeterRegistry meters) {
        this.config = config;
        this.clock = clock;
        this.id = id;
        this.tenant = ByteString.of(config.tenant());
        this.engine = engine;
        this.master = master;
        Peers peers = new Peers(engine, clock);
        this.workers = new SumWorkers(clock);
        this.transfers = new Transfers(engine, peers, workers, clock);
        this.staging = new Staging(config.memory().localBufferBytes(), meters);
        HotCache cache = new HotCache(config.memory(), peers, meters);
        this.reservations = new Reservations(config.memory().reserve(), id, master, clock);
        this.writes =
                new Writes(
                        id,
                        tenant,
                        clock,
                        master,
                        transfers,
                        reservations,
                        config.memory(),
                        meters);
        this.reads = new Reads(tenant, clock, master, transfers, staging, cache, meters);
        this.async = new AsyncStoreClient(this, meters);
    }

    /**
     * Connects. RPC_FAIL when no master answers at that address, RPC_TIMEOUT when it does not
     * within the deadline, INVALID_VERSION when it speaks another release, TRANSFER_FAIL when this
     * process cannot open its own ports.
     */
    public static Outcome<StoreClient> connect(
            StoreClientConfig config, Clock clock, MeterRegistry meters) {
        return connect(config, clock, Entropy.system(), meters);
    }

    static Outcome<StoreClient> connect(
            StoreClientConfig config, Clock clock, Entropy entropy, MeterRegistry meters) {
        Deadline deadline = Deadline.after(clock, config.deadline());
        Uuid id = new Uuid(entropy.nextLong(), entropy.nextLong());
        return MasterLink.connect(config.master(), config.calls(), id, clock, deadline, meters)
                .then(
                        master -> {
                            Outcome<TransferEngine> engine =
                                    Engines.start(
                                            config.engine(),
                                            config.metadata(),
                                            config.localName(),
                                            config.security(),
                                            clock,
                                            meters);
                            if (!engine.isOk()) {
                                master.close();
                            }
                            return engine.map(
                                    e -> new StoreClient(config, clock, id, e, master, meters));
                        });
    }

    private Deadline deadline() {
        return Deadline.after(clock, config.deadline());
    }

    /** The same calls without waiting. */
    public AsyncStoreClient async() {
        return async;
    }

    // Writing

    /**
     * Stores a value. OBJECT_ALREADY_EXISTS: the key is stored or being stored, nothing changed.
     * NO_AVAILABLE_HANDLE: no space even after eviction. TRANSFER_FAIL, WRITE_FAIL: no node took
     * the bytes and the put was taken back. INVALID_VERSION, OBJECT_NOT_FOUND: with {@link
     * PutOptions#ifVersion}. INVALID_WRITE: the put took so long that the master gave it up.
     */
    public Outcome<Done> put(ByteString key, MemorySegment value, PutOptions options) {
        return putVersion(key, value, options).map(_ -> Done.DONE);
    }

    /** As {@link #put}; the value is the object's version, for {@link PutOptions#ifVersion}. */
    public Outcome<Long> putVersion(ByteString key, MemorySegment value, PutOptions options) {
        return putEach(List.of(key), List.of(List.of(value)), options).getFirst();
    }

    /** As {@link #put}, for a heap array. BUFFER_OVERFLOW when the local buffer has no room. */
    public Outcome<Done> put(ByteString key, byte[] value, PutOptions options) {
        return staging.take(Math.max(1, value.length))
                .then(
                        block -> {
                            try (block) {
                                MemorySegment bytes = block.memory().asSlice(0, value.length);
                                MemorySegment.copy(
                                        value, 0, bytes, ValueLayout.JAVA_BYTE, 0, value.length);
                                return put(key, bytes, options);
                            }
                        });
    }

    /**
     * As {@link #put}, one outcome per key; a failed key does not disturb the others.
     *
     * @throws CassiaException INVALID_PARAMS, when there are not as many values as keys
     */
    public List<Outcome<Done>> putBatch(
            List<ByteString> keys, List<MemorySegment> values, PutOptions options) {
        requireSameSize(keys.size(), values.size(), "values");
        List<List<MemorySegment>> parts = new ArrayList<>(values.size());
        for (MemorySegment value : values) {
            parts.add(List.of(value));
        }
        return done(putEach(keys, parts, options));
    }

    /** Stores one object that is gathered from several places, in order. */
    public Outcome<Done> putParts(ByteString key, List<MemorySegment> parts, PutOptions options) {
        return putEach(List.of(key), List.of(parts), options).getFirst().map(_ -> Done.DONE);
    }

    /**
     * As {@link #putParts}, one outcome per key.
     *
     * @throws CassiaException INVALID_PARAMS, when there are not as many values as keys
     */
    public List<Outcome<Done>> putPartsBatch(
            List<ByteString> keys, List<List<MemorySegment>> values, PutOptions options) {
        requireSameSize(keys.size(), values.size(), "values");
        return keys.isEmpty() ? List.of() : done(writes.put(keys, values, options, deadline()));
    }

    /** Puts that do not choose a node for all of them, as upstream (spec mooncake-store 2.2). */
    private List<Outcome<Long>> putEach(
            List<ByteString> keys, List<List<MemorySegment>> values, PutOptions options) {
        if (options.replicate().preferAllocInSameNode()) {
            return Collections.nCopies(
                    keys.size(),
                    Outcome.failed(
                            StoreCode.INVALID_PARAMS,
                            "objects are put on the same node by putPartsBatch or a session"));
        }
        return keys.isEmpty() ? List.of() : writes.put(keys, values, options, deadline());
    }

    private static List<Outcome<Done>> done(List<Outcome<Long>> versions) {
        List<Outcome<Done>> done = new ArrayList<>(versions.size());
        for (Outcome<Long> version : versions) {
            done.add(version.isOk() ? Outcome.done() : version.map(_ -> Done.DONE));
        }
        return done;
    }

    /** As {@link #put}, replacing what has the key; readers see the old version or the new one. */
    public Outcome<Done> upsert(ByteString key, MemorySegment value, PutOptions options) {
        return put(key, value, options.upsert());
    }

    /**
     * As {@link #upsert}, one outcome per key.
     *
     * @throws CassiaException INVALID_PARAMS, when there are not as many values as keys
     */
    public List<Outcome<Done>> upsertBatch(
            List<ByteString> keys, List<MemorySegment> values, PutOptions options) {
        return putBatch(keys, values, options.upsert());
    }

    /** Starts a put that is written piece by piece; the codes are those of {@link #put}. */
    public Outcome<WriteSession> openWrite(ByteString key, long sizeBytes, PutOptions options) {
        return openWriteBatch(List.of(key), List.of(sizeBytes), options)
                .then(batch -> WriteSession.of(batch, sizeBytes));
    }

    /**
     * Starts puts of many objects, which are then written range by range and ended together. The
     * codes are those of {@link #put}, one for each key in {@link BatchWriteSession#started}; what
     * could not be started does not disturb the others. A key that is named twice is INVALID_PARAMS
     * the second time. When the options are no session's, which is INVALID_PARAMS, there is none.
     *
     * @param sizesBytes for each key how large its object is
     * @throws CassiaException INVALID_PARAMS, when there are not as many sizes as keys
     */
    public Outcome<BatchWriteSession> openWriteBatch(
            List<ByteString> keys, List<Long> sizesBytes, PutOptions options) {
        requireSameSize(keys.size(), sizesBytes.size(), "sizes");
        return BatchWriteSession.open(
                keys, sizesBytes, options, writes, transfers, staging, this::deadline);
    }

    // Reading

    /**
     * Reads an object into the caller's memory; the value is its size in bytes. INVALID_PARAMS when
     * the memory is too small, OBJECT_NOT_FOUND, REPLICA_IS_NOT_READY, TRANSFER_FAIL when no
     * replica could be read, CHECKSUM_MISMATCH when no replica has the bytes that were put,
     * LEASE_EXPIRED when the bytes came too late to be trusted. After a failure the memory's
     * content is undefined.
     */
    public Outcome<Long> get(ByteString key, MemorySegment into) {
        return getBatch(List.of(key), List.of(into)).getFirst();
    }

    /** As {@link #get}, into a new heap array. BUFFER_OVERFLOW when the local buffer is full. */
    public Outcome<byte[]> getBytes(ByteString key) {
        return openStream(key)
                .then(
                        stream -> {
                            try (stream) {
                                return Outcome.ok(stream.readAllBytes());
                            } catch (java.io.IOException e) {
                                return e.getCause() instanceof CassiaException cause
                                        ? Outcome.failed(cause.code(), cause.detail())
                                        : Outcome.failed(
                                                StoreCode.INTERNAL_ERROR, String.valueOf(e));
                            } catch (OutOfMemoryError e) {
                                return Outcome.failed(
                                        StoreCode.BUFFER_OVERFLOW,
                                        "%d bytes do not fit an array"
                                                .formatted(stream.object().sizeBytes()));
                            }
                        });
    }

    /**
     * As {@link #get}, one outcome per key; a key may occur several times.
     *
     * @throws CassiaException INVALID_PARAMS, when there are not as many memories as keys
     */
    public List<Outcome<Long>> getBatch(List<ByteString> keys, List<MemorySegment> into) {
        requireSameSize(keys.size(), into.size(), "memories");
        return keys.isEmpty() ? List.of() : reads.all(keys, false, whole(keys, into), deadline());
    }

    /** Reads one object into several memories, one after the other. */
    public Outcome<Long> getParts(ByteString key, List<MemorySegment> into) {
        return getPartsBatch(List.of(key), List.of(into)).getFirst();
    }

    /**
     * As {@link #getParts}, one outcome per key.
     *
     * @throws CassiaException INVALID_PARAMS, when there are not as many lists of memories as keys
     */
    public List<Outcome<Long>> getPartsBatch(
            List<ByteString> keys, List<List<MemorySegment>> into) {
        requireSameSize(keys.size(), into.size(), "memories");
        Reads.Plan plan =
                (i, found) -> ReadItem.whole(i, keys.get(i), found, into.get(i), reads.peers());
        return keys.isEmpty() ? List.of() : reads.all(keys, false, plan, deadline());
    }

    private Reads.Plan whole(List<ByteString> keys, List<MemorySegment> into) {
        return (i, found) ->
                ReadItem.whole(i, keys.get(i), found, List.of(into.get(i)), reads.peers());
    }

    /** Reads part of an object. INVALID_READ when it ends behind the object; else as a get. */
    public Outcome<Long> getRange(ByteString key, long offsetBytes, MemorySegment into) {
        return getRanges(List.of(new RangeRead(key, offsetBytes, into))).getFirst();
    }

    /** As {@link #getRange}, of any objects; one outcome per range, the value being its length. */
    public List<Outcome<Long>> getRanges(List<RangeRead> ranges) {
        List<Outcome<Long>> outcomes = new ArrayList<>(ranges.size());
        Deadline deadline = deadline();
        for (List<RangeRead> window : staging.windows(ranges)) {
            List<ByteString> keys = window.stream().map(RangeRead::key).toList();
            Reads.Plan plan =
                    (i, found) -> ReadItem.range(i, found, window.get(i), reads.peers(), staging);
            outcomes.addAll(reads.all(keys, false, plan, deadline));
        }
        return outcomes;
    }

    /**
     * Reads the leading readable keys under one lease in one go. The list is as long as that
     * prefix; an item is a failure when the key was readable by the master's word but its bytes
     * could not be had. When the master could not be asked, the list is that one failure.
     *
     * @throws CassiaException INVALID_PARAMS, when there are not as many memories as keys
     */
    public List<Outcome<Long>> getPrefix(List<ByteString> keys, List<MemorySegment> into) {
        requireSameSize(keys.size(), into.size(), "memories");
        return keys.isEmpty() ? List.of() : reads.all(keys, true, whole(keys, into), deadline());
    }

    /** How many of the keys are readable, counted from the first one until one is not. */
    public Outcome<Integer> longestPrefix(List<ByteString> keys) {
        if (keys.isEmpty()) {
            return Outcome.ok(0);
        }
        return master.longestPrefix(keys, tenant, deadline());
    }

    /** Asks once and reads many ranges under one lease. */
    public Outcome<ReadSession> openRead(List<ByteString> keys) {
        return ReadSession.open(keys, tenant, reads, master, this::deadline);
    }

    /** Reads an object of any size through a buffer. BUFFER_OVERFLOW when there is none free. */
    public Outcome<ObjectStream> openStream(ByteString key) {
        return ObjectStream.open(key, k -> openRead(List.of(k)), staging, STREAM_BYTES);
    }

    // Asking

    /** Whether a get would find a readable replica now. */
    public Outcome<Boolean> exists(ByteString key) {
        return master.ask(MasterMethods.EXIST_KEY, new Args.Key(key, tenant), deadline());
    }

    /** As {@link #exists}, one outcome per key. */
    public List<Outcome<Boolean>> existsBatch(List<ByteString> keys) {
        Args.Keys args = new Args.Keys(keys, tenant);
        return keys.isEmpty()
                ? List.of()
                : master.askBatch(MasterMethods.BATCH_EXIST_KEY, args, keys.size(), deadline());
    }

    /** Size of a readable object in bytes; OBJECT_NOT_FOUND or REPLICA_IS_NOT_READY otherwise. */
    public Outcome<Long> size(ByteString key) {
        return info(key).map(ObjectInfo::sizeBytes);
    }

    /** Size, version and replicas of a readable object; the codes are those of {@link #size}. */
    public Outcome<ObjectInfo> info(ByteString key) {
        return infoBatch(List.of(key)).getFirst();
    }

    /** As {@link #info}, one outcome per key. */
    public List<Outcome<ObjectInfo>> infoBatch(List<ByteString> keys) {
        List<Outcome<ObjectInfo>> infos = new ArrayList<>(keys.size());
        if (!keys.isEmpty()) {
            for (Outcome<Found> found : reads.find(keys, false, deadline())) {
                infos.add(found.map(Found::info));
            }
        }
        return infos;
    }

    /** Where a readable object's replicas are. */
    public Outcome<List<ReplicaDescriptor>> replicas(ByteString key) {
        return info(key).map(ObjectInfo::replicas);
    }

    /**
     * Where the replicas are of all readable objects of which some part of the key matches.
     * INVALID_PARAMS for an expression that cannot be understood or that costs too much.
     */
    public Outcome<Map<ByteString, List<ReplicaDescriptor>>> replicasByRegex(String pattern) {
        return master.ask(
                MasterMethods.GET_REPLICA_LIST_BY_REGEX,
                new Args.Key(ByteString.of(pattern), tenant),
                deadline());
    }

    /** Whether the master answers; RPC_FAIL or RPC_TIMEOUT when it does not. */
    public Outcome<Done> health() {
        return master.call(MasterMethods.SERVICE_READY, Done.DONE, deadline()).map(_ -> Done.DONE);
    }

    /**
     * Keys that start with {@code prefix}, in byte order, {@code limit} at most, behind {@code
     * after}. INVALID_PARAMS for a limit below 1, NOT_SUPPORTED by a Mooncake master.
     */
    public Outcome<List<KeyInfo>> list(ByteString prefix, ByteString after, int limit) {
        if (limit < 1) {
            return Outcome.failed(StoreCode.INVALID_PARAMS, "at most " + limit + " keys");
        }
        return cassiaOnly("listing keys")
                .then(
                        done ->
                                master.ask(
                                        CassiaMethods.LIST_KEYS,
                                        new ListKeys(prefix, after, limit, tenant),
                                        deadline()));
    }

    /** The pool at this moment. NOT_SUPPORTED by a Mooncake master. */
    public Outcome<Stats> stats() {
        return cassiaOnly("reading the pool's figures")
                .then(done -> master.ask(CassiaMethods.STATS, Done.DONE, deadline()));
    }

    // Removing and ordering

    /**
     * Removes an object. OBJECT_NOT_FOUND, REPLICA_IS_NOT_READY while it is being written,
     * OBJECT_HAS_LEASE while it is being read unless {@code force}.
     */
    public Outcome<Done> remove(ByteString key, boolean force) {
        return master.order(MasterMethods.REMOVE, new Args.Remove(key, force, tenant), deadline());
    }

    /** As {@link #remove}, one outcome per key. */
    public List<Outcome<Done>> removeBatch(List<ByteString> keys, boolean force) {
        Args.BatchRemove args = new Args.BatchRemove(keys, force, tenant);
        return keys.isEmpty()
                ? List.of()
                : master.callBatch(MasterMethods.BATCH_REMOVE, args, keys.size(), deadline());
    }

    /**
     * Removes the objects of which some part of the key matches; the value is their number.
     * INVALID_PARAMS for an expression that cannot be understood or that costs too much.
     */
    public Outcome<Long> removeByRegex(String pattern, boolean force) {
        return master.order(
                MasterMethods.REMOVE_BY_REGEX,
                new Args.Remove(ByteString.of(pattern), force, tenant),
                deadline());
    }

    /**
     * Removes objects of the default tenant that this client has put, or their replicas in one
     * segment; the value names the keys of which something was removed. Those that somebody reads,
     * that are not complete, or that others have put are left alone.
     *
     * @param segment name of the segment; empty: all replicas
     */
    public Outcome<List<String>> clearReplicas(List<ByteString> keys, String segment) {
        return master.order(
                MasterMethods.BATCH_REPLICA_CLEAR,
                new Args.BatchReplicaClear(keys, id, segment),
                deadline());
    }

    /** Removes this tenant's objects that nobody reads or writes; the value is their number. */
    public Outcome<Long> removeAll(boolean force) {
        return master.callBare(
                MasterMethods.REMOVE_ALL, new Args.RemoveAll(force, tenant), deadline());
    }

    /**
     * Orders further replicas in those segments; the value names the task. OBJECT_NOT_FOUND,
     * INVALID_PARAMS for no or unknown targets, UNAVAILABLE_IN_CURRENT_STATUS for one that takes
     * nothing, TASK_PENDING_LIMIT_EXCEEDED.
     */
    public Outcome<Uuid> copy(ByteString key, List<String> targets) {
        return master.order(
                MasterMethods.CREATE_COPY_TASK,
                new Args.CreateCopyTask(key, tenant, targets),
                deadline());
    }

    /** Orders that a replica moves to another segment; as {@link #copy}. */
    public Outcome<Uuid> move(ByteString key, String source, String target) {
        return master.order(
                MasterMethods.CREATE_MOVE_TASK,
                new Args.CreateMoveTask(key, tenant, source, target),
                deadline());
    }

    /** The state of a task; TASK_NOT_FOUND when it is unknown or long over. */
    public Outcome<TaskInfo> task(Uuid id) {
        return master.ask(MasterMethods.QUERY_TASK, id, deadline());
    }

    /**
     * Waits for the end of a task; a task that failed has the code and the message of the node that
     * ran it. TASK_NOT_FOUND; RPC_TIMEOUT when it has not ended within the client's deadline.
     */
    public Outcome<Done> awaitTask(Uuid id) {
        Deadline deadline = deadline();
        while (true) {
            switch (master.ask(MasterMethods.QUERY_TASK, id, deadline)) {
                case Outcome.Failed<TaskInfo> failed -> {
                    return failed.as();
                }
                case Outcome.Ok<TaskInfo>(TaskInfo task) -> {
                    Outcome<Done> ended = TaskRunner.outcome(task);
                    if (ended != null) {
                        return ended;
                    }
                }
            }
            if (deadline.hasPassed() || Thread.currentThread().isInterrupted()) {
                return Outcome.failed(
                        StoreCode.RPC_TIMEOUT, "task " + id + " has not ended; it goes on");
            }
            LockSupport.parkNanos(TASK_STEP.toNanos());
        }
    }

    private Outcome<Done> cassiaOnly(String what) {
        return master.isCassia()
                ? Outcome.done()
                : Outcome.failed(
                        StoreCode.NOT_SUPPORTED, what + " needs a Cassia master, this one is not");
    }

    private static void requireSameSize(int keys, int others, String what) {
        if (keys != others) {
            throw new CassiaException(
                    StoreCode.INVALID_PARAMS, keys + " keys but " + others + " " + what);
        }
    }

    /** Ends the engine and the connection; nothing that was stored is touched. */
    @Override
    public void close() {
        async.close();
        reservations.close();
        workers.close();
        engine.close();
        master.close();
        staging.close();
    }
}
