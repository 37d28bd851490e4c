package io.cassia.app.bench.store;

import io.cassia.app.bench.store.StoreCell.Operation;
import io.cassia.app.bench.store.StorePlan.Shape;
import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.PutOptions;
import io.cassia.store.StoreClient;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.HdrHistogram.Histogram;

/**
 * Puts and gets of one client. Confined to its thread, which lends the calls to others.
 *
 * <pre>
 *   round:  put every object (timed) ─► get them again and again (timed) ─► remove
 * </pre>
 *
 * Rounds are repeated until both have run for long enough. What a call is given is made before.
 */
public final class StoreLoad implements AutoCloseable {
    private static final long MAX_NANOS = Duration.ofMinutes(5).toNanos();
    private static final long PATTERN_BYTES = 8L << 20;

    private final StoreClient client;
    private final PutOptions options;
    private final Clock clock;
    private final StorePlan plan;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment source;
    private final MemorySegment target;
    private final ExecutorService callers;
    private int rounds;

    /**
     * @param options of each put
     */
    public StoreLoad(StoreClient client, PutOptions options, Clock clock, StorePlan plan) {
        this.client = client;
        this.options = options;
        this.clock = clock;
        this.plan = plan;
        this.source = arena.allocate(PATTERN_BYTES + plan.batchBytes(), 4096);
        this.target = arena.allocate(plan.batchBytes() * plan.threads(), 4096);
        this.callers =
                Executors.newFixedThreadPool(
                        plan.threads(),
                        Thread.ofPlatform().daemon().name("cassia-bench-", 0).factory());
        SplittableRandom random = new SplittableRandom(7);
        for (long at = 0; at + Long.BYTES <= source.byteSize(); at += Long.BYTES) {
            source.set(ValueLayout.JAVA_LONG, at, random.nextLong());
        }
        MemorySegment _ = target.fill((byte) 1);
    }

    /** One call, ready to be made. Immutable. */
    private record Call(
            List<ByteString> keys, List<MemorySegment> values, List<MemorySegment> into) {}

    /** Calls of one operation and their time. Confined to the load. */
    private static final class Tally {
        final Histogram calls = new Histogram(MAX_NANOS, 3);
        long nanos;
    }

    /**
     * One operation in one turn. Immutable.
     *
     * @param calls how many
     * @param nanos what all took
     * @param p50Nanos of a call
     * @param p99Nanos of a call
     */
    public record Turn(long calls, long nanos, long p50Nanos, long p99Nanos) {
        private static Turn of(Tally tally) {
            return new Turn(
                    tally.calls.getTotalCount(),
                    tally.nanos,
                    tally.calls.getValueAtPercentile(50),
                    tally.calls.getValueAtPercentile(99));
        }
    }

    /**
     * Calls of all shapes until the code is warm, half of the time those of the first, whose bytes
     * take the least of it.
     */
    public Outcome<Done> warmUp(Duration time) {
        List<Shape> shapes = plan.shapes();
        for (Shape shape : shapes) {
            boolean first = shape.equals(shapes.getFirst());
            Duration share = time.dividedBy(first ? 2 : 2L * (shapes.size() - 1));
            // One half of it for puts, one for gets.
            if (run(shape, share.dividedBy(2), first)
                    instanceof Outcome.Failed<List<Tally>> failed) {
                return failed.as();
            }
        }
        return Outcome.done();
    }

    /**
     * Puts and gets of this shape. The first failure ends it, and so does a wrong byte.
     *
     * @param prove whether every byte of the last round is compared
     */
    public Outcome<Map<Operation, Turn>> turn(Shape shape, boolean prove) {
        return run(shape, plan.duration(), prove)
                .map(
                        tallies ->
                                Map.of(
                                        Operation.PUT, Turn.of(tallies.getFirst()),
                                        Operation.GET, Turn.of(tallies.getLast())));
    }

    private Outcome<List<Tally>> run(Shape shape, Duration duration, boolean prove) {
        Tally puts = new Tally();
        Tally gets = new Tally();
        boolean last = false;
        while (!last) {
            List<List<Call>> round = round(shape);
            long getNanos = Math.max(1, duration.toNanos() - gets.nanos);
            Outcome<Done> done =
                    together(round, puts, (calls, times) -> putAll(calls, times))
                            .then(
                                    _ ->
                                            together(
                                                    round,
                                                    gets,
                                                    (calls, times) ->
                                                            getAll(calls, times, getNanos)));
            last = puts.nanos >= duration.toNanos() && gets.nanos >= duration.toNanos();
            if (last && prove) {
                done = done.then(_ -> prove(round));
            }
            done = done.then(_ -> remove(round));
            if (done instanceof Outcome.Failed<Done> failed) {
                return failed.as();
            }
        }
        return Outcome.ok(List.of(puts, gets));
    }

    /** The calls of each thread, under keys that were never used before. */
    private List<List<Call>> round(Shape shape) {
        rounds++;
        List<List<Call>> round = new ArrayList<>();
        long number = 0;
        for (int thread = 0; thread < plan.threads(); thread++) {
            List<Call> calls = new ArrayList<>();
            for (int i = 0; i < plan.callsPerRound(shape); i++) {
                calls.add(call(shape, thread, number));
                number += shape.batch();
            }
            round.add(calls);
        }
        return round;
    }

    private Call call(Shape shape, int thread, long number) {
        List<ByteString> keys = new ArrayList<>(shape.batch());
        List<MemorySegment> values = new ArrayList<>(shape.batch());
        List<MemorySegment> into = new ArrayList<>(shape.batch());
        for (int i = 0; i < shape.batch(); i++) {
            long object = number + i;
            keys.add(ByteString.of("bench/" + shape.bytes() + "/" + rounds + "/" + object));
            // Each object begins elsewhere in the pattern, so that none can pass for another.
            long from = (object * 4096 + rounds * 64L) % PATTERN_BYTES;
            values.add(source.asSlice(from, shape.bytes()));
            into.add(target.asSlice(thread * plan.batchBytes() + i * shape.bytes(), shape.bytes()));
        }
        return new Call(keys, values, into);
    }

    private interface Work {
        Outcome<Done> run(List<Call> calls, Histogram times);
    }

    /** Each thread does its part; the time is that of the last one. */
    private Outcome<Done> together(List<List<Call>> round, Tally tally, Work work) {
        List<Histogram> times = new ArrayList<>();
        List<Callable<Outcome<Done>>> parts = new ArrayList<>();
        for (List<Call> calls : round) {
            Histogram own = new Histogram(MAX_NANOS, 3);
            times.add(own);
            parts.add(() -> work.run(calls, own));
        }
        long start = clock.nanos();
        try {
            for (Future<Outcome<Done>> part : callers.invokeAll(parts)) {
                if (part.get() instanceof Outcome.Failed<Done> failed) {
                    return failed;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Outcome.failed(StoreCode.INTERNAL_ERROR, "interrupted while measuring");
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
        tally.nanos += clock.nanos() - start;
        times.forEach(tally.calls::add);
        return Outcome.done();
    }

    private Outcome<Done> putAll(List<Call> calls, Histogram times) {
        long now = clock.nanos();
        for (Call call : calls) {
            for (Outcome<Done> put : client.putBatch(call.keys, call.values, options)) {
                if (put instanceof Outcome.Failed<Done> failed) {
                    return failed;
                }
            }
            long end = clock.nanos();
            times.recordValue(Math.min(MAX_NANOS, end - now));
            now = end;
        }
        return Outcome.done();
    }

    private Outcome<Done> getAll(List<Call> calls, Histogram times, long nanos) {
        long start = clock.nanos();
        long now = start;
        do {
            for (Call call : calls) {
                for (Outcome<Long> got : client.getBatch(call.keys, call.into)) {
                    if (got instanceof Outcome.Failed<Long> failed) {
                        return failed.as();
                    }
                }
                long end = clock.nanos();
                times.recordValue(Math.min(MAX_NANOS, end - now));
                now = end;
                if (now - start >= nanos) {
                    break;
                }
            }
        } while (now - start < nanos);
        return Outcome.done();
    }

    /** Every byte of every object of the round. */
    private Outcome<Done> prove(List<List<Call>> round) {
        for (List<Call> calls : round) {
            for (Call call : calls) {
                call.into.forEach(memory -> memory.fill((byte) 0));
                List<Outcome<Long>> got = client.getBatch(call.keys, call.into);
                for (int i = 0; i < got.size(); i++) {
                    if (got.get(i) instanceof Outcome.Failed<Long> failed) {
                        return failed.as();
                    }
                    if (call.into.get(i).mismatch(call.values.get(i)) >= 0) {
                        return Outcome.failed(
                                StoreCode.CHECKSUM_MISMATCH,
                                call.keys.get(i) + " gave back other bytes than were put");
                    }
                }
            }
        }
        return Outcome.done();
    }

    private Outcome<Done> remove(List<List<Call>> round) {
        for (List<Call> calls : round) {
            List<ByteString> keys = calls.stream().flatMap(call -> call.keys.stream()).toList();
            for (Outcome<Done> removed : client.removeBatch(keys, true)) {
                if (removed instanceof Outcome.Failed<Done> failed) {
                    return failed;
                }
            }
        }
        return Outcome.done();
    }

    @Override
    public void close() {
        callers.shutdownNow();
        arena.close();
    }
}
