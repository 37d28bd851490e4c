package io.cassia.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes segments out of the pool whose file was cut off by its owner: what was stored there is
 * gone, and no object must be placed there. Looks once a second, from the first lent file on.
 * Guarded.
 */
final class LentWatch implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(LentWatch.class.getName());
    private static final Duration PERIOD = Duration.ofSeconds(1);

    private final Supplier<Map<Uuid, String>> lost;
    private final Function<Uuid, Outcome<Done>> unmount;
    private final Counter cut;
    private final ReentrantLock lock = new ReentrantLock();

    /** What the operator knows of already. Confined to the thread that looks. */
    private final Set<Uuid> told = new HashSet<>();

    @GuardedBy("lock")
    private @Nullable ScheduledExecutorService thread;

    @GuardedBy("lock")
    private boolean closed;

    /**
     * @param lost segments that are not whole, and what can be said about them
     * @param unmount takes one out of the pool
     */
    LentWatch(
            Supplier<Map<Uuid, String>> lost,
            Function<Uuid, Outcome<Done>> unmount,
            MeterRegistry meters) {
        this.lost = lost;
        this.unmount = unmount;
        this.cut =
                Counter.builder("cassia_node_lent_files_cut")
                        .description("Segments lost because the owner cut their file off")
                        .register(meters);
    }

    /** Begins to look; once more is fine. */
    void begin() {
        lock.lock();
        try {
            if (thread == null && !closed) {
                thread =
                        Executors.newSingleThreadScheduledExecutor(
                                Thread.ofPlatform().name("cassia-lent-watch").daemon().factory());
                long period = PERIOD.toMillis();
                var _ =
                        thread.scheduleWithFixedDelay(
                                this::tick, period, period, TimeUnit.MILLISECONDS);
            }
        } finally {
            lock.unlock();
        }
    }

    private void tick() {
        try {
            lost.get().forEach(this::takeOut);
        } catch (RuntimeException bug) {
            LOG.log(Level.ERROR, "watch over lent files broke", bug);
        }
    }

    private void takeOut(Uuid segment, String memory) {
        if (told.add(segment)) {
            cut.increment();
            LOG.log(
                    Level.WARNING,
                    "lent file cut off by its owner, objects in it are lost, the segment leaves the"
                            + " pool segment={0} memory=\"{1}\"",
                    segment,
                    memory);
        }
        Outcome<Done> out = unmount.apply(segment);
        if (out instanceof Outcome.Failed<Done>(Code code, String detail)
                && code != StoreCode.SEGMENT_NOT_FOUND) {
            LOG.log(
                    Level.WARNING,
                    "segment of a cut file not unmounted, will try again segment={0} code={1}"
                            + " detail={2}",
                    segment,
                    code.label(),
                    detail);
        } else {
            told.remove(segment);
        }
    }

    @Override
    public void close() {
        ScheduledExecutorService looking;
        lock.lock();
        try {
            closed = true;
            looking = thread;
        } finally {
            lock.unlock();
        }
        if (looking != null) {
            looking.shutdownNow();
        }
    }
}
