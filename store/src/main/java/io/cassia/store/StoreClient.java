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
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.CassiaException;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.transfer.TransferEngine;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A client of the object store: reads and writes nodes' memory one-sidedly, asks the master only
 * for descriptors. Thread-safe. Every call ends within the configured deadline.
 *
 * <p>A value is any number of bytes from 1; an empty one is INVALID_PARAMS, as upstream. Memory
 * must be native. Objects are immutable: a put of an existing key changes nothing and answers
 * OBJECT_ALREADY_EXISTS.
 */
public final class StoreClient implements AutoCloseable {
    private final StoreClientConfig config;
    private final Clock clock;
    private final ByteString tenant;
    private final TransferEngine engine;
    private final MasterLink master;
    private final Writes writes;
    private final Reads reads;

    private StoreClient(
            StoreClientConfig config,
            Clock clock,
            Uuid id,
            TransferEngine engine,
            MasterLink master,
            MeterRegistry meters) {
        this.config = config;
        this.clock = clock;
        this.tenant = ByteString.of(config.tenant());
        this.engine = engine;
        this.master = master;
        ReplicaTransfers transfers = new ReplicaTransfers(engine);
        this.writes = new Writes(id, tenant, master, transfers);
        this.reads = new Reads(tenant, clock, master, transfers, meters);
    }

    /**
     * Connects. RPC_FAIL when no master answers at that address, INVALID_VERSION when it speaks
     * another release, TRANSFER_FAIL when this process cannot open its own ports.
     */
    public static Outcome<StoreClient> connect(
            StoreClientConfig config, Clock clock, MeterRegistry meters) {
        return connect(config, clock, Entropy.system(), meters);
    }

    static Outcome<StoreClient> connect(
            StoreClientConfig config, Clock clock, Entropy entropy, MeterRegistry meters) {
        Deadline deadline = Deadline.after(clock, config.deadline());
        Uuid id = new Uuid(entropy.nextLong(), entropy.nextLong());
        return MasterLink.connect(config.master(), id, clock, deadline, meters)
                .then(
                        master -> {
                            Outcome<TransferEngine> engine =
                                    Engines.start(
                                            config.engine(),
                                            config.metadata(),
                                            config.localName(),
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

    /**
     * Stores a value. OBJECT_ALREADY_EXISTS: the key is stored or being stored, nothing changed.
     * NO_AVAILABLE_HANDLE: no space even after eviction. TRANSFER_FAIL: a node could not be written
     * to and the put was taken back.
     */
    public Outcome<Done> put(ByteString key, MemorySegment value, PutOptions options) {
        return putBatch(List.of(key), List.of(value), options).getFirst();
    }

    /** As {@link #put}, one outcome per key; a failed key does not disturb the others. */
    public List<Outcome<Done>> putBatch(
            List<ByteString> keys, List<MemorySegment> values, PutOptions options) {
        requireSameSize(keys.size(), values.size());
        return keys.isEmpty() ? List.of() : writes.put(keys, values, options, deadline());
    }

    /**
     * Reads an object into the caller's memory; the value is its size in bytes. INVALID_PARAMS when
     * the memory is too small, OBJECT_NOT_FOUND, REPLICA_IS_NOT_READY, TRANSFER_FAIL when no
     * replica could be read, LEASE_EXPIRED when the bytes came too late to be trusted. After a
     * failure the memory's content is undefined.
     */
    public Outcome<Long> get(ByteString key, MemorySegment into) {
        return getBatch(List.of(key), List.of(into)).getFirst();
    }

    /** As {@link #get}, one outcome per key; a key may occur several times. */
    public List<Outcome<Long>> getBatch(List<ByteString> keys, List<MemorySegment> into) {
        requireSameSize(keys.size(), into.size());
        return keys.isEmpty() ? List.of() : reads.all(keys, into, deadline());
    }

    /**
     * Reads the leading readable keys under one lease in one go. The list is as long as that
     * prefix; an item is a failure when the key was readable by the master's word but its bytes
     * could not be had. When the master could not be asked, the list is that one failure.
     */
    public List<Outcome<Long>> getPrefix(List<ByteString> keys, List<MemorySegment> into) {
        requireSameSize(keys.size(), into.size());
        return keys.isEmpty() ? List.of() : reads.prefix(keys, into, deadline());
    }

    /** Whether a get would find a readable replica now. */
    public Outcome<Boolean> exists(ByteString key) {
        return master.call(MasterMethods.EXIST_KEY, new Args.Key(key, tenant), deadline());
    }

    /** As {@link #exists}, one outcome per key. */
    public List<Outcome<Boolean>> existsBatch(List<ByteString> keys) {
        Args.Keys args = new Args.Keys(keys, tenant);
        return keys.isEmpty()
                ? List.of()
                : master.callBatch(MasterMethods.BATCH_EXIST_KEY, args, keys.size(), deadline());
    }

    /** Size of a readable object in bytes; OBJECT_NOT_FOUND or REPLICA_IS_NOT_READY otherwise. */
    public Outcome<Long> size(ByteString key) {
        return reads.size(key, deadline());
    }

    /** Where a readable object's replicas are. */
    public Outcome<List<ReplicaDescriptor>> replicas(ByteString key) {
        return reads.replicas(key, deadline());
    }

    /**
     * Removes an object. OBJECT_NOT_FOUND, REPLICA_IS_NOT_READY while it is being written,
     * OBJECT_HAS_LEASE while it is being read unless {@code force}.
     */
    public Outcome<Done> remove(ByteString key, boolean force) {
        return master.call(MasterMethods.REMOVE, new Args.Remove(key, force, tenant), deadline());
    }

    /** As {@link #remove}, one outcome per key. */
    public List<Outcome<Done>> removeBatch(List<ByteString> keys, boolean force) {
        Args.BatchRemove args = new Args.BatchRemove(keys, force, tenant);
        return keys.isEmpty()
                ? List.of()
                : master.callBatch(MasterMethods.BATCH_REMOVE, args, keys.size(), deadline());
    }

    /** Removes this tenant's objects that nobody reads or writes; the value is their number. */
    public Outcome<Long> removeAll(boolean force) {
        return master.callBare(
                MasterMethods.REMOVE_ALL, new Args.RemoveAll(force, tenant), deadline());
    }

    /**
     * Keys that start with {@code prefix}, in byte order, {@code limit} at most, behind {@code
     * after}. NOT_SUPPORTED by a Mooncake master.
     */
    public Outcome<List<KeyInfo>> list(ByteString prefix, ByteString after, int limit) {
        return cassiaOnly("listing keys")
                .then(
                        done ->
                                master.call(
                                        CassiaMethods.LIST_KEYS,
                                        new ListKeys(prefix, after, limit, tenant),
                                        deadline()));
    }

    /** The pool at this moment. NOT_SUPPORTED by a Mooncake master. */
    public Outcome<Stats> stats() {
        return cassiaOnly("reading the pool's figures")
                .then(done -> master.call(CassiaMethods.STATS, Done.DONE, deadline()));
    }

    private Outcome<Done> cassiaOnly(String what) {
        return master.isCassia()
                ? Outcome.done()
                : Outcome.failed(
                        StoreCode.NOT_SUPPORTED, what + " needs a Cassia master, this one is not");
    }

    private static void requireSameSize(int keys, int memories) {
        if (keys != memories) {
            throw new CassiaException(
                    StoreCode.INVALID_PARAMS, keys + " keys but " + memories + " memory segments");
        }
    }

    /** Ends the engine and the connection; nothing that was stored is touched. */
    @Override
    public void close() {
        engine.close();
        master.close();
    }
}
