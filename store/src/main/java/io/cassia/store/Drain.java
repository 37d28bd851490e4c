package io.cassia.store;

import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.rpc.cassia.CassiaMessages.CreateDrainJob;
import io.cassia.rpc.cassia.CassiaMessages.DrainJob;
import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Has the master move everything off a node's segments. Immutable. */
final class Drain {
    private static final String CAPABILITY = "drain";
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration STEP = Duration.ofMillis(100);
    private static final long CONCURRENCY = 4;
    private static final int SUCCEEDED = 3;
    private static final int LAST_RUNNING = 2;

    private final Clock clock;
    private final MasterLink master;

    Drain(Clock clock, MasterLink master) {
        this.clock = clock;
        this.master = master;
    }

    /**
     * Waits until nothing is stored in the segments any more. NOT_SUPPORTED by a Mooncake master,
     * whose drain jobs are ordered over HTTP; UNAVAILABLE_IN_CURRENT_STATUS when not everything was
     * moved in time; else the master's own code.
     */
    Outcome<Done> run(List<Segment> segments, Duration time) {
        if (segments.isEmpty()) {
            return Outcome.done();
        }
        if (!master.can(CAPABILITY)) {
            return Outcome.failed(StoreCode.NOT_SUPPORTED, "draining a node needs a Cassia master");
        }
        List<String> names = segments.stream().map(Segment::name).distinct().toList();
        Deadline deadline = Deadline.after(clock, time);
        return master.call(
                        CassiaMethods.CREATE_DRAIN_JOB,
                        new CreateDrainJob(names, List.of(), CONCURRENCY),
                        call())
                .then(id -> await(id, deadline));
    }

    private Deadline call() {
        return Deadline.after(clock, CALL_TIMEOUT);
    }

    private Outcome<Done> await(Uuid id, Deadline deadline) {
        while (true) {
            switch (master.ask(CassiaMethods.QUERY_DRAIN_JOB, id, call())) {
                case Outcome.Failed<DrainJob> failed -> {
                    return failed.as();
                }
                case Outcome.Ok<DrainJob>(DrainJob job) -> {
                    if (job.status() == SUCCEEDED) {
                        return Outcome.done();
                    }
                    if (job.status() > LAST_RUNNING || deadline.hasPassed()) {
                        return Outcome.failed(
                                StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                                "%d replicas moved, %d failed, %d blocked: %s"
                                        .formatted(
                                                job.succeededUnits(),
                                                job.failedUnits(),
                                                job.blockedUnits(),
                                                job.message()));
                    }
                }
            }
            if (Thread.currentThread().isInterrupted()) {
                return Outcome.failed(StoreCode.INTERNAL_ERROR, "interrupted while draining");
            }
            LockSupport.parkNanos(STEP.toNanos());
        }
    }
}
