package io.cassia.app.bench;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.Region;
import io.cassia.transfer.RemoteBuffer;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.TransferRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;

/**
 * The side that moves the bytes. Each thread has a part of both memories for itself and calls
 * {@link TransferEngine#transfer} with a batch at random places of it, again and again. Confined to
 * its thread.
 */
public final class BenchInitiator implements AutoCloseable {
    private static final Duration DEADLINE = Duration.ofSeconds(30);
    private static final long MAX_NANOS = Duration.ofMinutes(5).toNanos();

    private final TransferEngine engine;
    private final SegmentHandle target;
    private final RemoteBuffer remote;
    private final Region local;
    private final Clock clock;
    private final LongSupplier cpuNanos;

    private BenchInitiator(
            TransferEngine engine,
            SegmentHandle target,
            RemoteBuffer remote,
            Region local,
            Clock clock,
            LongSupplier cpuNanos) {
        this.engine = engine;
        this.target = target;
        this.remote = remote;
        this.local = local;
        this.clock = clock;
        this.cpuNanos = cpuNanos;
    }

    /**
     * Opens the target and allocates as much memory as it offers.
     *
     * @param neededBytes that the plan needs on each side; ERR_INVALID_ARGUMENT when the target
     *     offers less
     * @param cpuNanos processor time until now of all that shall be counted
     */
    public static Outcome<BenchInitiator> open(
            TransferEngine engine,
            String segment,
            long neededBytes,
            Clock clock,
            LongSupplier cpuNanos) {
        return open(engine, segment, neededBytes, Long.MAX_VALUE, clock, cpuNanos);
    }

    /**
     * The same with memory that is limited on both sides.
     *
     * @param mostBytes that are used of the target's memory and allocated here
     */
    public static Outcome<BenchInitiator> open(
            TransferEngine engine,
            String segment,
            long neededBytes,
            long mostBytes,
            Clock clock,
            LongSupplier cpuNanos) {
        return engine.openSegment(segment)
                .then(handle -> open(engine, handle, neededBytes, mostBytes, clock, cpuNanos));
    }

    private static Outcome<BenchInitiator> open(
            TransferEngine engine,
            SegmentHandle handle,
            long neededBytes,
            long mostBytes,
            Clock clock,
            LongSupplier cpuNanos) {
        return engine.remoteBuffers(handle)
                .then(buffers -> largest(handle.name(), buffers, neededBytes))
                .map(
                        remote ->
                                new RemoteBuffer(
                                        remote.address(),
                                        Math.min(remote.lengthBytes(), mostBytes)))
                .then(remote -> allocate(engine, handle, remote, clock, cpuNanos));
    }

    private static Outcome<BenchInitiator> allocate(
            TransferEngine engine,
            SegmentHandle handle,
            RemoteBuffer remote,
            Clock clock,
            LongSupplier cpuNanos) {
        return engine.allocate(remote.lengthBytes())
                .map(
                        region -> {
                            // Pages that were never touched would be paid for in the first round.
                            MemorySegment _ = region.memory().fill((byte) 7);
                            return new BenchInitiator(
                                    engine, handle, remote, region, clock, cpuNanos);
                        });
    }

    private static Outcome<RemoteBuffer> largest(
            String segment, List<RemoteBuffer> buffers, long neededBytes) {
        RemoteBuffer best = new RemoteBuffer(0, 0);
        for (RemoteBuffer buffer : buffers) {
            if (Long.compareUnsigned(buffer.lengthBytes(), best.lengthBytes()) > 0) {
                best = buffer;
            }
        }
        return Long.compareUnsigned(best.lengthBytes(), neededBytes) >= 0
                ? Outcome.ok(best)
                : Outcome.failed(
                        TransferCode.ERR_INVALID_ARGUMENT,
                        ("segment %s offers %d bytes in one buffer, and %d are needed; give the"
                                        + " target a larger buffer, or use smaller blocks, batches"
                                        + " or fewer threads")
                                .formatted(segment, best.lengthBytes(), neededBytes));
    }

    /** Warms up and measures. The first failure ends it. */
    public Outcome<BenchRow> measure(BenchPlan.Cell cell, int threads, Duration duration) {
        return run(cell, threads, duration.dividedBy(2)).then(_ -> run(cell, threads, duration));
    }

    private Outcome<BenchRow> run(BenchPlan.Cell cell, int threads, Duration duration) {
        long cpu = cpuNanos.getAsLong();
        long start = clock.nanos();
        List<Callable<Outcome<Histogram>>> loops = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Loop loop = new Loop(cell, i, threads);
            loops.add(() -> loop.run(start + duration.toNanos()));
        }
        Histogram all = new Histogram(MAX_NANOS, 3);
        try (ExecutorService callers =
                Executors.newThreadPerTaskExecutor(
                        Thread.ofPlatform().name("cassia-bench-", 0).factory())) {
            for (Future<Outcome<Histogram>> future : callers.invokeAll(loops)) {
                switch (future.get()) {
                    case Outcome.Ok<Histogram>(Histogram calls) -> all.add(calls);
                    case Outcome.Failed<Histogram> failed -> {
                        return failed.as();
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Outcome.failed(TransferCode.ERR_CLOCK, "interrupted while measuring");
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
        long nanos = clock.nanos() - start;
        long calls = all.getTotalCount();
        return Outcome.ok(
                new BenchRow(
                        cell,
                        threads,
                        calls * cell.batchSize() * cell.blockBytes(),
                        calls,
                        nanos,
                        all.getValueAtPercentile(50),
                        all.getValueAtPercentile(95),
                        all.getValueAtPercentile(99),
                        cpuNanos.getAsLong() - cpu,
                        0,
                        0));
    }

    /** The calls of one thread. Confined to it. */
    private final class Loop {
        private final BenchPlan.Cell cell;
        private final long offset;
        private final long slots;
        private final SplittableRandom random;

        Loop(BenchPlan.Cell cell, int number, int threads) {
            long share = remote.lengthBytes() / threads;
            this.cell = cell;
            this.offset = share * number;
            this.slots = share / cell.blockBytes();
            this.random = new SplittableRandom(number);
        }

        Outcome<Histogram> run(long endNanos) {
            Histogram calls = new Histogram(MAX_NANOS, 3);
            List<TransferRequest> requests = new ArrayList<>(cell.batchSize());
            long now = clock.nanos();
            do {
                requests.clear();
                for (int i = 0; i < cell.batchSize(); i++) {
                    requests.add(request());
                }
                for (Outcome<Done> outcome : engine.transfer(requests, DEADLINE)) {
                    if (outcome instanceof Outcome.Failed<Done> failed) {
                        return failed.as();
                    }
                }
                long end = clock.nanos();
                calls.recordValue(Math.min(MAX_NANOS, end - now));
                now = end;
            } while (now - endNanos < 0);
            return Outcome.ok(calls);
        }

        private TransferRequest request() {
            long here = offset + random.nextLong(slots) * cell.blockBytes();
            long there = offset + random.nextLong(slots) * cell.blockBytes();
            return new TransferRequest(
                    cell.operation(),
                    local.memory().asSlice(here, cell.blockBytes()),
                    target,
                    remote.address() + there);
        }
    }

    /** Whether bytes that are written are those that are read back; once, before measuring. */
    public Outcome<Done> check() {
        long length = Math.min(remote.lengthBytes(), 1 << 20);
        MemorySegment half = local.memory().asSlice(0, length / 2);
        MemorySegment other = local.memory().asSlice(length / 2, length / 2);
        SplittableRandom random = new SplittableRandom(1);
        for (long i = 0; i < half.byteSize(); i++) {
            half.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
        }
        return move(Opcode.WRITE, half)
                .then(_ -> move(Opcode.READ, other))
                .then(
                        _ ->
                                half.mismatch(other) < 0
                                        ? Outcome.done()
                                        : Outcome.failed(
                                                TransferCode.ERR_ENDPOINT,
                                                "%s gave back other bytes than were written"
                                                        .formatted(target.name())));
    }

    private Outcome<Done> move(Opcode opcode, MemorySegment memory) {
        return engine.transfer(
                        List.of(new TransferRequest(opcode, memory, target, remote.address())),
                        DEADLINE)
                .getFirst();
    }

    @Override
    public void close() {
        local.close();
    }
}
