package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages;
import io.cassia.rpc.cassia.CassiaMessages.CreateDrainJob;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.Outcome.Failed;
import io.cassia.status.StoreCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the master's lock. Drain jobs: move tasks for all replicas of some segments (spec
 * mooncake-store 8.3). Pinned and leased objects are moved too, for a move keeps them: readers go
 * on reading the old place until their leases are over. A replica of an object that all others have
 * already is dropped. What stands in the way is counted by reason, so that a job ends or says why
 * not.
 */
final class Drains {
    private static final long DISPATCH_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** Allocations looked at per job and dispatch. */
    private static final int SCANS_PER_DISPATCH = 4096;

    /** Jobs that have ended and are remembered. */
    private static final int MOST_ENDED = 1000;

    private static final int MOST_RUNNING = 64;

    private static final String UNDER_WAY = "being-moved";
    private static final String GIVEN_UP = "given-up";

    private final CoreState state;
    private final Space space;
    private final TaskTable tasks;
    private final Map<Uuid, DrainJob> jobs = new LinkedHashMap<>();
    private long dispatchedAt;

    Drains(CoreState state, Space space, TaskTable tasks) {
        this.state = state;
        this.space = space;
        this.tasks = tasks;
    }

    Outcome<Uuid> create(CreateDrainJob wanted, long epochMs) {
        Failed<Uuid> refused = check(wanted);
        if (refused != null) {
            return refused;
        }
        for (String name : wanted.segments()) {
            for (MountedSegment segment : named(name)) {
                if (segment.status() == SegmentStatus.OK) {
                    state.segments.retire(segment, SegmentStatus.DRAINING);
                }
            }
        }
        int concurrency = (int) Math.min(wanted.maxConcurrency(), 10_000);
        DrainJob job =
                new DrainJob(
                        new Uuid(state.nextRandom(), state.nextRandom()),
                        List.copyOf(wanted.segments()),
                        List.copyOf(wanted.targets()),
                        concurrency,
                        epochMs,
                        state.now);
        jobs.put(job.id, job);
        forgetEnded();
        return Outcome.ok(job.id);
    }

    private @Nullable Failed<Uuid> check(CreateDrainJob wanted) {
        Set<String> sources = new HashSet<>(wanted.segments());
        Set<String> targets = new HashSet<>(wanted.targets());
        if (sources.isEmpty()
                || wanted.maxConcurrency() <= 0
                || sources.size() != wanted.segments().size()
                || targets.size() != wanted.targets().size()
                || sources.stream().anyMatch(targets::contains)) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "segments="
                            + wanted.segments()
                            + " targets="
                            + wanted.targets()
                            + " concurrency="
                            + wanted.maxConcurrency()
                            + ": none, twice, in both lists, or 0");
        }
        List<String> all = new ArrayList<>(wanted.segments());
        all.addAll(wanted.targets());
        for (String name : all) {
            List<MountedSegment> found = named(name);
            if (found.isEmpty()) {
                return Outcome.failed(StoreCode.SEGMENT_NOT_FOUND, "no segment is named " + name);
            }
            if (found.stream().noneMatch(segment -> segment.status() == SegmentStatus.OK)) {
                return Outcome.failed(
                        StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                        "segment " + name + " is " + found.getFirst().status());
            }
        }
        long running = jobs.values().stream().filter(DrainJob::isRunning).count();
        return running < MOST_RUNNING
                ? null
                : Outcome.failed(
                        StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                        "running drain jobs=" + running + ", which is the limit");
    }

    private List<MountedSegment> named(String name) {
        List<MountedSegment> found = new ArrayList<>();
        for (MountedSegment segment : state.segments.all()) {
            if (segment.wire.name().equals(name)) {
                found.add(segment);
            }
        }
        return found;
    }

    private void forgetEnded() {
        int ended = 0;
        for (DrainJob job : jobs.values()) {
            ended += job.isRunning() ? 0 : 1;
        }
        if (ended > MOST_ENDED) {
            jobs.values().stream()
                    .filter(job -> !job.isRunning())
                    .findFirst()
                    .ifPresent(job -> jobs.remove(job.id));
        }
    }

    Outcome<CassiaMessages.DrainJob> query(Uuid id) {
        DrainJob job = jobs.get(id);
        return job == null ? unknown(id) : Outcome.ok(job.info());
    }

    Outcome<Done> cancel(Uuid id) {
        DrainJob job = jobs.get(id);
        if (job == null) {
            return unknown(id);
        }
        if (!job.isRunning()) {
            return Outcome.failed(
                    StoreCode.UNAVAILABLE_IN_CURRENT_STATUS, "job " + id + " is " + job.status);
        }
        for (Uuid task : List.copyOf(job.active.values())) {
            tasks.cancel(task);
        }
        if (!job.active.isEmpty()) {
            return Outcome.failed(
                    StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                    "job " + id + " has moves under way: " + job.active.size() + "; retry soon");
        }
        job.end(DrainJob.Status.CANCELED, state.now);
        backToUse(job);
        return Outcome.done();
    }

    private static <T> Failed<T> unknown(Uuid id) {
        return Outcome.failed(StoreCode.JOB_NOT_FOUND, "no job has the id " + id);
    }

    private void backToUse(DrainJob job) {
        for (String name : job.sources) {
            for (MountedSegment segment : named(name)) {
                if (segment.status() == SegmentStatus.DRAINING) {
                    state.segments.reinstate(segment);
                }
            }
        }
    }

    /** Goes on with all jobs, not more often than twice a second. */
    void tick() {
        if (jobs.isEmpty() || state.now - dispatchedAt < DISPATCH_NANOS) {
            return;
        }
        dispatchedAt = state.now;
        for (DrainJob job : List.copyOf(jobs.values())) {
            if (job.isRunning()) {
                dispatch(job);
            }
        }
    }

    /** A task has ended: the next move need not wait for the timer. */
    void taskEnded() {
        dispatchedAt = Math.min(dispatchedAt, state.now - DISPATCH_NANOS);
    }

    private void dispatch(DrainJob job) {
        List<MountedSegment> draining = new ArrayList<>();
        for (String name : job.sources) {
            for (MountedSegment segment : named(name)) {
                if (segment.status() == SegmentStatus.DRAINING) {
                    draining.add(segment);
                }
            }
        }
        boolean empty = draining.stream().allMatch(s -> s.allocator.usedBytes() == 0);
        if (empty) {
            for (MountedSegment segment : draining) {
                state.segments.retire(segment, SegmentStatus.DRAINED);
            }
            job.blocked = Map.of();
            job.end(DrainJob.Status.SUCCEEDED, state.now);
            return;
        }
        pass(job, draining);
    }

    /** Goes on with the pass over the allocations of the draining segments. */
    private void pass(DrainJob job, List<MountedSegment> draining) {
        int left = SCANS_PER_DISPATCH;
        while (left > 0) {
            if (job.passSegment >= draining.size()) {
                endPass(job);
                return;
            }
            MountedSegment segment = draining.get(job.passSegment);
            if (!segment.wire.id().equals(job.passSegmentId)) {
                job.passSegmentId = segment.wire.id();
                job.passAllocation = OffsetAllocator.NO_SPACE;
                job.passOffset = -1;
            }
            long next = nextAllocation(job, segment.allocator);
            if (next == OffsetAllocator.NO_SPACE) {
                job.passSegment++;
                continue;
            }
            job.passAllocation = next;
            job.passOffset = segment.allocator.offset(next);
            left--;
            String obstacle = move(job, segment, next);
            if (!obstacle.isEmpty()) {
                job.passBlocked.merge(obstacle, 1L, Long::sum);
            }
        }
    }

    /** The one behind the last one; that may have been freed, so that the way leads by offsets. */
    private static long nextAllocation(DrainJob job, OffsetAllocator allocator) {
        long last = job.passAllocation;
        boolean there = last == OffsetAllocator.NO_SPACE || allocator.isLive(last);
        long next = allocator.nextAllocation(there ? last : OffsetAllocator.NO_SPACE);
        while (next != OffsetAllocator.NO_SPACE && allocator.offset(next) <= job.passOffset) {
            next = allocator.nextAllocation(next);
        }
        return next;
    }

    private void endPass(DrainJob job) {
        job.passSegment = 0;
        job.passSegmentId = new Uuid(0, 0);
        long givenUp = job.passBlocked.getOrDefault(GIVEN_UP, 0L);
        long all = job.passBlocked.values().stream().mapToLong(Long::longValue).sum();
        job.blocked = new LinkedHashMap<>(job.passBlocked);
        job.blocked.remove(UNDER_WAY);
        job.passBlocked.clear();
        if (givenUp > 0 && givenUp == all && job.active.isEmpty()) {
            job.end(DrainJob.Status.FAILED, state.now);
            backToUse(job);
        }
    }

    /** Makes a task for one allocation; what stands in the way, or empty. */
    private String move(DrainJob job, MountedSegment source, long allocation) {
        int slot = source.allocator.owner(allocation);
        if (slot == ObjectTable.NONE) {
            return "awaiting-release";
        }
        ByteString key = ByteString.wrap(state.objects.key(slot));
        ByteString tenant = state.tenants.name(state.objects.tenant(slot));
        DrainJob.Unit unit = new DrainJob.Unit(tenant, key, source.wire.name());
        if (job.active.containsKey(unit)) {
            return UNDER_WAY;
        }
        if (job.isGivenUp(unit)) {
            return GIVEN_UP;
        }
        if (state.objects.has(slot, ObjectTable.IN_FLIGHT)) {
            return "being-written";
        }
        if (state.objects.has(slot, ObjectTable.REPLICATING)) {
            return "being-copied";
        }
        if (source.suspected) {
            return "owner-is-silent";
        }
        if (job.active.size() >= job.maxConcurrency || tasks.isFull()) {
            return "waiting-its-turn";
        }
        List<String> holding = holding(slot);
        String target = target(job, slot, holding);
        if (target == null) {
            if (!isKeptElsewhere(job, slot, source, holding)) {
                return "no-target-has-room";
            }
            space.dropReplica(slot, replicaOn(slot, source), space.leasedUntil(slot));
            job.dropped(state.now);
            return "";
        }
        long epochMs = job.createdAtMs + TimeUnit.NANOSECONDS.toMillis(state.now - job.createdAt);
        Outcome<Uuid> task =
                tasks.submit(Replication.Kind.MOVE, slot, source, List.of(target), epochMs, job);
        if (task instanceof Outcome.Ok<Uuid>(Uuid id)) {
            job.started(unit, id, state.objects.size(slot), state.now);
            return UNDER_WAY;
        }
        return "waiting-its-turn";
    }

    /** The least used name that may take the object and does not hold it yet. */
    private @Nullable String target(DrainJob job, int slot, List<String> holding) {
        long size = state.objects.size(slot);
        SegmentGroup best = null;
        for (SegmentGroup group : state.segments.groups()) {
            if (mayTake(job, group)
                    && !holding.contains(group.name)
                    && group.largestFree() >= size
                    && (best == null || group.freeRatio() > best.freeRatio())) {
                best = group;
            }
        }
        return best == null ? null : best.name;
    }

    private List<String> holding(int slot) {
        List<String> holding = new ArrayList<>();
        for (MountedSegment segment : space.segmentsOf(slot)) {
            holding.add(segment.wire.name());
        }
        return holding;
    }

    private static boolean mayTake(DrainJob job, SegmentGroup group) {
        return job.targets.isEmpty() || job.targets.contains(group.name);
    }

    /** Whether all that may take the object have it already, one of them for sure. */
    private boolean isKeptElsewhere(
            DrainJob job, int slot, MountedSegment source, List<String> holding) {
        for (SegmentGroup group : state.segments.groups()) {
            if (mayTake(job, group) && !holding.contains(group.name)) {
                return false;
            }
        }
        for (MountedSegment segment : space.segmentsOf(slot)) {
            if (segment != source && segment.isAllocatable()) {
                return true;
            }
        }
        return false;
    }

    private long replicaOn(int slot, MountedSegment source) {
        if (state.objects.segment(slot) == source.index) {
            return state.objects.replicaId(slot);
        }
        ObjectExtra extra = state.objects.extra(slot);
        if (extra != null) {
            for (Replica replica : extra.replicas) {
                if (replica.segment == source.index) {
                    return replica.id;
                }
            }
        }
        throw new IllegalStateException("slot " + slot + " has no replica on " + source.wire.id());
    }

    void digest(Digest digest) {
        jobs.values().forEach(job -> job.digest(digest));
    }
}
