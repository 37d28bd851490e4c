package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages;
import io.cassia.rpc.mooncake.Uuid;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Confined to the master's lock. One drain job: moving all replicas off some segments.
 *
 * <pre>
 *   RUNNING ──nothing left──► SUCCEEDED
 *      ├──only replicas left that failed too often──► FAILED
 *      └──cancelled──► CANCELED
 * </pre>
 */
final class DrainJob {
    enum Status {
        RUNNING(2),
        SUCCEEDED(3),
        FAILED(4),
        CANCELED(5);

        final int number;

        Status(int number) {
            this.number = number;
        }
    }

    /** A replica to be moved. */
    record Unit(ByteString tenant, ByteString key, String source) {}

    /** Moves of one replica before it is given up. */
    private static final int MOST_FAILURES = 3;

    final Uuid id;
    final List<String> sources;
    final List<String> targets;
    final int maxConcurrency;
    final long createdAtMs;
    final long createdAt;
    final Map<Unit, Uuid> active = new LinkedHashMap<>();
    private final Map<Unit, Integer> failures = new HashMap<>();
    private final Map<Unit, Long> sizes = new HashMap<>();

    Status status = Status.RUNNING;
    long updatedAt;
    long succeeded;
    long migratedBytes;

    /** Units that were given up. */
    int terminal;

    String lastFailure = "";

    /** Where the pass over the segments is: segment number in {@code sources}, allocation. */
    int passSegment;

    Uuid passSegmentId = new Uuid(0, 0);
    long passAllocation = OffsetAllocator.NO_SPACE;
    long passOffset = -1;

    /** What the pass under way found to stand in the way, and how often. */
    final Map<String, Long> passBlocked = new TreeMap<>();

    /** The same of the last whole pass. */
    Map<String, Long> blocked = Map.of();

    DrainJob(
            Uuid id,
            List<String> sources,
            List<String> targets,
            int maxConcurrency,
            long createdAtMs,
            long now) {
        this.id = id;
        this.sources = sources;
        this.targets = targets;
        this.maxConcurrency = maxConcurrency;
        this.createdAtMs = createdAtMs;
        this.createdAt = now;
        this.updatedAt = now;
    }

    boolean isRunning() {
        return status == Status.RUNNING;
    }

    void end(Status end, long now) {
        status = end;
        updatedAt = now;
        active.clear();
        failures.clear();
        sizes.clear();
    }

    void started(Unit unit, Uuid task, long size, long now) {
        active.put(unit, task);
        sizes.put(unit, size);
        updatedAt = now;
    }

    /** A task of this job is over. */
    void ended(Task task, long now) {
        Unit unit = new Unit(task.tenant, task.key, task.source);
        if (!active.remove(unit, task.id)) {
            return;
        }
        updatedAt = now;
        Long size = sizes.remove(unit);
        if (task.status == Task.Status.SUCCESS) {
            succeeded++;
            migratedBytes += size == null ? 0 : size;
            failures.remove(unit);
            return;
        }
        lastFailure = "key " + task.key + ": " + task.message;
        if (failures.merge(unit, 1, Integer::sum) == MOST_FAILURES) {
            terminal++;
        }
    }

    /** A replica needed no move: the others have the object. */
    void dropped(long now) {
        succeeded++;
        updatedAt = now;
    }

    boolean isGivenUp(Unit unit) {
        return failures.getOrDefault(unit, 0) >= MOST_FAILURES;
    }

    long blockedUnits() {
        return blocked.values().stream().mapToLong(Long::longValue).sum();
    }

    CassiaMessages.DrainJob info() {
        StringBuilder message = new StringBuilder();
        blocked.forEach((why, count) -> message.append(why).append('=').append(count).append(' '));
        if (!lastFailure.isEmpty()) {
            message.append("last failure: ").append(lastFailure);
        }
        return new CassiaMessages.DrainJob(
                id,
                status.number,
                createdAtMs,
                createdAtMs + TimeUnit.NANOSECONDS.toMillis(updatedAt - createdAt),
                sources,
                targets,
                maxConcurrency,
                succeeded,
                terminal,
                blockedUnits(),
                active.size(),
                migratedBytes,
                message.toString().trim());
    }

    void digest(Digest digest) {
        digest.add(id);
        digest.add(status.number);
        digest.add(succeeded);
        digest.add(terminal);
        digest.add(active.size());
        digest.add(passAllocation);
    }
}
