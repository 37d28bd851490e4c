package io.cassia.app.replay;

import io.cassia.base.Clock;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import io.cassia.status.UnknownCode;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Runs a trace against a store with parallel clients. Thread-safe: workers share only atomics.
 *
 * <p>Requests are dealt in the order of the trace. With one client the run is deterministic; with
 * several, requests in flight race: a block that one of them is still storing is a miss to the
 * others.
 */
public final class ReplayEngine {
    private final Trace trace;
    private final ReplayOptions options;
    private final Clock clock;
    private final Pause pause;
    private final Progress progress;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicReference<@Nullable String> stopped = new AtomicReference<>();
    private final AtomicReference<@Nullable Throwable> defect = new AtomicReference<>();

    private ReplayEngine(
            Trace trace, ReplayOptions options, Clock clock, Pause pause, Progress progress) {
        this.trace = trace;
        this.options = options;
        this.clock = clock;
        this.pause = pause;
        this.progress = progress;
    }

    /** Told after each request, by any worker. */
    @FunctionalInterface
    public interface Progress {
        Progress NONE = () -> {};

        void requestDone();
    }

    /**
     * Runs the whole trace and returns when all clients have ended. Failures of the store are in
     * the report; a store that does not answer for ten seconds ends the run early.
     *
     * @param stores one connection per client, used by that client alone
     */
    public static ReplayReport run(
            Trace trace,
            ReplayOptions options,
            List<? extends BlockStore> stores,
            Clock clock,
            Pause pause,
            Progress progress) {
        if (stores.isEmpty()) {
            throw new IllegalArgumentException("no client");
        }
        return new ReplayEngine(trace, options, clock, pause, progress).run(stores);
    }

    private ReplayReport run(List<? extends BlockStore> stores) {
        BlockStore observer = stores.getFirst();
        OptionalLong evictedBefore = evicted(observer);
        Tally sum = new Tally();
        long nanos;
        try (Arena arena = Arena.ofShared()) {
            List<ReplayWorker> workers = new ArrayList<>();
            for (BlockStore store : stores) {
                workers.add(new ReplayWorker(trace, options, store, clock, pause, arena));
            }
            long start = clock.nanos();
            runAll(workers, start);
            nanos = clock.nanos() - start;
            workers.forEach(worker -> sum.add(worker.tally()));
        }
        Throwable bug = defect.get();
        if (bug != null) {
            throw new IllegalStateException("a replay client broke: " + bug, bug);
        }
        OptionalLong evictedAfter = evicted(observer);
        OptionalLong evictions =
                evictedBefore.isPresent() && evictedAfter.isPresent()
                        ? OptionalLong.of(evictedAfter.getAsLong() - evictedBefore.getAsLong())
                        : OptionalLong.empty();
        return report(sum, nanos, evictions, stores.size());
    }

    private void runAll(List<ReplayWorker> workers, long start) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < workers.size(); i++) {
            ReplayWorker worker = workers.get(i);
            threads.add(Thread.ofPlatform().name("replay-" + i).start(() -> deal(worker, start)));
        }
        boolean interrupted = false;
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    // The workers use memory that is unmapped after this: end them, then leave.
                    interrupted = true;
                    stopped.compareAndSet(null, "interrupted");
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void deal(ReplayWorker worker, long start) {
        try {
            while (stopped.get() == null && defect.get() == null) {
                int request = next.getAndIncrement();
                if (request >= trace.requests()) {
                    return;
                }
                awaitTurn(request, start);
                if (!worker.run(request)) {
                    stopped.compareAndSet(
                            null,
                            "the store did not answer for 10 s; stopped at request " + request);
                }
                progress.requestDone();
            }
        } catch (RuntimeException | Error e) {
            defect.compareAndSet(null, e);
        }
    }

    private void awaitTurn(int request, long start) {
        if (options.speed() == 0) {
            return;
        }
        long due = start + (long) (trace.timestampMillis(request) * 1e6 / options.speed());
        for (long left; stopped.get() == null && (left = due - clock.nanos()) > 0; ) {
            pause.nanos(left);
        }
    }

    /** A store that cannot say makes the figure unknown, not the run a failure. */
    private static OptionalLong evicted(BlockStore store) {
        return switch (store.evictedObjects()) {
            case Outcome.Ok<Long>(Long count) -> OptionalLong.of(count);
            case Outcome.Failed<Long> failure -> OptionalLong.empty();
        };
    }

    private ReplayReport report(Tally sum, long nanos, OptionalLong evictions, int clients) {
        Map<String, Long> failures = new TreeMap<>();
        Map<String, String> examples = new TreeMap<>();
        sum.failures.forEach((code, count) -> failures.merge(name(code), count, Long::sum));
        sum.examples.forEach((code, detail) -> examples.putIfAbsent(name(code), detail));
        return new ReplayReport(
                sum.requests,
                sum.blocks,
                sum.hits,
                sum.bytesRead,
                sum.bytesWritten,
                nanos / 1e9,
                rate(sum.bytesRead, sum.getTotalNanos, clients),
                rate(sum.bytesWritten, sum.putTotalNanos, clients),
                latency(sum.getNanos),
                latency(sum.putNanos),
                evictions,
                sum.alreadyStored,
                failures.values().stream().mapToLong(Long::longValue).sum(),
                failures,
                examples,
                sum.verificationErrors,
                sum.wrongBlocks,
                clients,
                Optional.ofNullable(stopped.get()));
    }

    /** The bare name; a number that no release defines is told by its number. */
    private static String name(Code code) {
        return code instanceof UnknownCode ? code.label() : code.name();
    }

    /** Bytes per nanosecond are 10^9 bytes per second. */
    private static double rate(long bytes, long clientNanos, int clients) {
        return clientNanos == 0 ? 0 : (double) bytes * clients / clientNanos;
    }

    private static ReplayReport.Latency latency(Histogram nanos) {
        return new ReplayReport.Latency(
                nanos.getTotalCount(),
                nanos.getValueAtPercentile(50),
                nanos.getValueAtPercentile(99),
                nanos.getMaxValue());
    }
}
