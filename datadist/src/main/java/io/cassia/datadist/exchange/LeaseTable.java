package io.cassia.datadist.exchange;

import io.cassia.base.Clock;
import io.cassia.datadist.cache.Pin;
import io.cassia.datadist.cache.TensorSelection;
import io.cassia.datadist.link.Link;
import io.cassia.datadist.link.OpKind;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.Counter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The leases of an instance. Guarded. */
final class LeaseTable {
    /** What a lease lasts longer than its reader may take. */
    private static final long GRACE_NANOS = Duration.ofMillis(100).toNanos();

    private static final int MAX_LEASES = 65_536;

    private final Clock clock;
    private final Counter expired;
    private final AtomicLong lastId = new AtomicLong();
    private final Map<Long, Lease> leases = new ConcurrentHashMap<>();

    LeaseTable(Clock clock, Counter expired) {
        this.clock = clock;
        this.expired = expired;
    }

    /** Takes the pin over. */
    Lease open(
            Link link,
            OpKind kind,
            Pin pin,
            TensorSelection tensors,
            boolean consumes,
            long budgetNanos) {
        long deadline = clock.nanos() + budgetNanos + GRACE_NANOS;
        Lease lease =
                new Lease(lastId.incrementAndGet(), link, kind, pin, tensors, consumes, deadline);
        leases.put(lease.id(), lease);
        return lease;
    }

    /**
     * Ends a lease for its reader; the memory is still held. {@code LLM_TIMEOUT} when its time is
     * over, or when this side has given the transfer up.
     */
    Outcome<Lease> finish(long id, Link link) {
        Lease lease = leases.get(id);
        if (lease == null || lease.link() != link) {
            return over(id);
        }
        if (!leases.remove(id, lease)) {
            return over(id);
        }
        if (!lease.revoke()) {
            lease.letGo();
            return over(id);
        }
        return Outcome.ok(lease);
    }

    private static Outcome<Lease> over(long id) {
        return Outcome.failed(
                LlmStatus.LLM_TIMEOUT,
                "the time for transfer %d is over, what was read does not count".formatted(id));
    }

    /** Ends a lease that nobody was told of. */
    void cancel(Lease lease) {
        if (leases.remove(lease.id(), lease)) {
            lease.letGo();
        }
    }

    /** Lets go what nobody came back for in time. */
    void expire() {
        if (leases.isEmpty()) {
            return;
        }
        long now = clock.nanos();
        for (Lease lease : List.copyOf(leases.values())) {
            if (lease.isOver(now) && leases.remove(lease.id(), lease)) {
                expired.increment();
                lease.letGo();
            }
        }
    }

    /** Wakes who waits for a reader that cannot answer any more. */
    void linkEnded(Link link) {
        Outcome.Failed<?> reason =
                link.end()
                        .orElseGet(
                                () -> Outcome.failed(LlmStatus.LLM_NOT_YET_LINK, "the link ended"));
        for (Lease lease : leases.values()) {
            if (lease.link() == link && lease.kind() == OpKind.PUSH) {
                boolean ignored = lease.end().complete(reason.as());
            }
        }
    }

    /** Whether peers have to wait until others have ended. */
    boolean isFull() {
        return leases.size() >= MAX_LEASES;
    }

    int size() {
        return leases.size();
    }

    /** Lets everything go, for the end of an instance. */
    void clear() {
        List.copyOf(leases.values()).forEach(this::cancel);
    }
}
