package io.cassia.master.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** Confined to the master's lock. All of the state, for the parts that work on it. */
final class CoreState {
    final CoreConfig config;
    final ObjectTable objects;
    final Versions versions;
    final RecencyLists recency;
    final SegmentTable segments = new SegmentTable();
    final Quarantine quarantine = new Quarantine();
    final UnmountedSegments unmounted = new UnmountedSegments();
    final DiscardQueue discards = new DiscardQueue(segments, quarantine);
    final GroupTable groups = new GroupTable();
    final Tenants tenants;
    final TenantOrder tenantOrder;

    /** Keys of objects that went before anybody had read them; only under TWO_QUEUES. */
    final EvictedKeys evictedKeys = new EvictedKeys();

    final LeaseTable leases;
    final DecisionRing decisions = new DecisionRing();
    final ObjectEvents events = new ObjectEvents();

    /** Slots whose objects are being copied or moved, the earliest start first. */
    final SequencedMap<Integer, Replication> replications = new LinkedHashMap<>();

    /** Slots of reserved space, by the ids that their clients name it by. */
    final Map<Long, Integer> reserved = new HashMap<>();

    final CoreCounters counters = new CoreCounters();
    final List<Effect> effects = new ArrayList<>();

    /** Nanoseconds since the start, at least 1: 0 stands for "never" and is in the past. */
    long now = 1;

    /** Bytes of objects that no eviction may take. */
    long hardPinnedBytes;

    /** Bytes of puts and upserts in flight. */
    long inFlightBytes;

    /** Those of them that have no key yet. */
    long reservedBytes;

    /** Estimated heap bytes of the objects. */
    long metadataBytes;

    private final long originNanos;
    private long lastReplicaId;
    private long random;

    CoreState(CoreConfig config, long originNanos) {
        this.config = config;
        this.originNanos = originNanos;
        this.random = config.seed();
        // What one master calls something must mean nothing to the next one (ADR 52).
        this.lastReplicaId = firstNumber(config.seed(), 1);
        this.versions = new Versions(firstNumber(config.seed(), 2));
        objects = new ObjectTable(config.seed());
        tenants = new Tenants(config.multiTenant());
        tenantOrder = new TenantOrder(objects, config.multiTenant());
        recency = new RecencyLists(objects, tenantOrder);
        leases = new LeaseTable(this);
    }

    /** Time never goes back, whatever the caller says. */
    void advance(long nowNanos) {
        now = Math.max(now, nowNanos - originNanos + 1);
    }

    /** Bytes that a write in flight takes, or gives back when negative. */
    void inFlight(int tenant, long bytes) {
        inFlightBytes += bytes;
        tenants.charge(tenant, bytes);
    }

    long nextReplicaId() {
        return ++lastReplicaId;
    }

    long lastReplicaId() {
        return lastReplicaId;
    }

    /** A number from the generator that is part of the state. */
    long nextRandom() {
        random += 0x9E37_79B9_7F4A_7C15L;
        return mix(random);
    }

    private static long mix(long number) {
        long mixed = (number ^ (number >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return mixed ^ (mixed >>> 31);
    }

    /** Where numbers of a kind begin, below 2^52 so that JSON can hold them. */
    private static long firstNumber(long seed, int kind) {
        return mix(seed + kind * 0x9E37_79B9_7F4A_7C15L) >>> 12;
    }

    /** A number from 0 to {@code bound} - 1 from the generator that is part of the state. */
    int random(int bound) {
        random += 0x9E37_79B9_7F4A_7C15L;
        long mixed = (random ^ (random >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return (int) (((mixed >>> 33) * bound) >>> 31);
    }

    void digest(Digest digest) {
        digest.add(now);
        digest.add(lastReplicaId);
        digest.add(random);
        digest.add(hardPinnedBytes);
        digest.add(inFlightBytes);
        digest.add(reservedBytes);
        digest.add(metadataBytes);
        objects.digest(digest);
        versions.digest(digest);
        recency.digest(digest);
        evictedKeys.digest(digest);
        segments.digest(digest);
        discards.digest(digest);
        quarantine.digest(digest);
        unmounted.digest(digest);
        leases.digest(digest);
        tenants.digest(digest);
        counters.digest(digest);
    }
}
