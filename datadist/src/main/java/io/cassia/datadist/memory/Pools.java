package io.cassia.datadist.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.datadist.cache.Placement;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/** The two pools of an instance, each opened when it is first needed or asked for. Guarded. */
public final class Pools {
    private final DataPlane plane;
    private final Map<Placement, PoolConfig> configs = new EnumMap<>(Placement.class);
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Map<Placement, MemoryPool> open = new EnumMap<>(Placement.class);

    public Pools(DataPlane plane, PoolConfig device, PoolConfig host) {
        this.plane = plane;
        configs.put(Placement.DEVICE, device);
        configs.put(Placement.HOST, host);
    }

    /**
     * The pool of a placement. {@code LLM_FEATURE_NOT_ENABLED} when it is configured off, {@code
     * LLM_OUT_OF_MEMORY} when its memory cannot be had.
     */
    public Outcome<MemoryPool> require(Placement placement) {
        PoolConfig config = configs.getOrDefault(placement, PoolConfig.OFF);
        if (config.isOff()) {
            return Outcome.failed(
                    LlmStatus.LLM_FEATURE_NOT_ENABLED,
                    "the %s pool is configured off: register memory, or configure a pool"
                            .formatted(placement));
        }
        lock.lock();
        try {
            MemoryPool present = open.get(placement);
            if (present != null) {
                return Outcome.ok(present);
            }
            Outcome<MemoryPool> opened = MemoryPool.open(placement, config, plane);
            if (opened instanceof Outcome.Ok<MemoryPool>(MemoryPool pool)) {
                open.put(placement, pool);
            }
            return opened;
        } finally {
            lock.unlock();
        }
    }

    /** The pool at this moment; empty when it was never needed. */
    public Optional<PoolStats> stats(Placement placement) {
        lock.lock();
        try {
            return Optional.ofNullable(open.get(placement)).map(MemoryPool::stats);
        } finally {
            lock.unlock();
        }
    }

    /** Gives all memory back; the first failure, if there is one. */
    public Outcome<Done> close() {
        lock.lock();
        try {
            Outcome<Done> outcome = Outcome.done();
            for (MemoryPool pool : open.values()) {
                Outcome<Done> closed = pool.close();
                outcome = outcome.isOk() ? closed : outcome;
            }
            open.clear();
            return outcome;
        } finally {
            lock.unlock();
        }
    }
}
