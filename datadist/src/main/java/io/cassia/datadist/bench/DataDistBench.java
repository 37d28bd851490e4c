package io.cassia.datadist.bench;

import io.cassia.base.Clock;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.DataType;
import io.cassia.datadist.cache.Pieces;
import io.cassia.datadist.exchange.TransferOptions;
import io.cassia.datadist.exchange.TransferReport;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferRequest;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Pulls and pushes of blocks beside the bare engine moving the same ranges. Confined to the calling
 * thread. The other end is the counterpart: in a process of its own, unless it is a test.
 */
public final class DataDistBench {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int SEED = 1;

    /**
     * What is measured. Immutable.
     *
     * @param totalBytes bytes per call where blocks fill it; also the size of each cache
     * @param blockBytes sizes of blocks, whole words
     * @param blocksPerCall blocks per call; 0: as many as fill the total
     * @param warmUps calls of one block before, of each kind: code that runs for hours is compiled
     * @param rounds measured calls of each kind
     * @param transports what may carry bytes
     */
    public record Plan(
            long totalBytes,
            List<Long> blockBytes,
            int blocksPerCall,
            int warmUps,
            int rounds,
            Set<Transport> transports) {
        public Plan {
            blockBytes = List.copyOf(blockBytes);
        }

        /** How both sides are set up. */
        public ServingPeer.Setup setup() {
            // Twice: the end of the last transfer of a cell is told without waiting, and until it
            // is heard the memory of that cell is held.
            return new ServingPeer.Setup(
                    2 * totalBytes + (1L << 20), totalBytes, false, transports);
        }

        private String label() {
            return transports.stream().map(Transport::label).collect(Collectors.joining(","));
        }
    }

    private final Plan plan;
    private final Clock clock;
    private final Session session;
    private final EngineSide engine;
    private final SegmentHandle target;
    private final long targetAddress;

    private DataDistBench(
            Plan plan,
            Clock clock,
            Session session,
            EngineSide engine,
            SegmentHandle target,
            long targetAddress) {
        this.plan = plan;
        this.clock = clock;
        this.session = session;
        this.engine = engine;
        this.target = target;
        this.targetAddress = targetAddress;
    }

    /** Runs all cells and tells each; the codes of what failed. The counterpart stays open. */
    public static Outcome<Done> run(
            Plan plan,
            Counterpart peer,
            Clock clock,
            MeterRegistry meters,
            Consumer<BenchRow> rows) {
        return Session.open(plan.setup(), peer, clock, meters)
                .then(
                        session -> {
                            try (session) {
                                return EngineSide.open(
                                                plan.transports(), plan.totalBytes(), clock, meters)
                                        .then(engine -> run(plan, session, engine, clock, rows));
                            }
                        });
    }

    private static Outcome<Done> run(
            Plan plan, Session session, EngineSide engine, Clock clock, Consumer<BenchRow> rows) {
        try (engine) {
            return session.peer()
                    .ask("where")
                    .then(
                            where -> {
                                String[] words = where.split(" ", -1);
                                return engine.target(words[1])
                                        .then(
                                                target ->
                                                        new DataDistBench(
                                                                        plan,
                                                                        clock,
                                                                        session,
                                                                        engine,
                                                                        target,
                                                                        Long.parseLong(words[2]))
                                                                .cells(rows));
                            });
        }
    }

    private Outcome<Done> cells(Consumer<BenchRow> rows) {
        for (boolean pull : new boolean[] {true, false}) {
            if (warmUp(pull) instanceof Outcome.Failed<Done> failed) {
                return failed;
            }
        }
        for (boolean pull : new boolean[] {true, false}) {
            for (boolean scattered : new boolean[] {false, true}) {
                for (long blockBytes : plan.blockBytes()) {
                    switch (cell(pull, scattered, blockBytes)) {
                        case Outcome.Ok<BenchRow>(BenchRow row) -> rows.accept(row);
                        case Outcome.Failed<BenchRow> failed -> {
                            return failed.as();
                        }
                    }
                }
            }
        }
        return Outcome.done();
    }

    /**
     * One cell with its caches. Immutable.
     *
     * @param here cache of this side: the destination of pulls, the source of pushes
     * @param there cache of the counterpart
     */
    private record Work(
            boolean pull,
            boolean scattered,
            long blockBytes,
            int all,
            int count,
            Cache here,
            long there) {}

    private Outcome<BenchRow> cell(boolean pull, boolean scattered, long blockBytes) {
        int all = Math.toIntExact(plan.totalBytes() / blockBytes);
        int count = plan.blocksPerCall() == 0 ? all : Math.min(plan.blocksPerCall(), all);
        return with(pull, scattered, blockBytes, all, count, this::measure);
    }

    private Outcome<Done> warmUp(boolean pull) {
        return with(
                pull,
                false,
                plan.blockBytes().getFirst(),
                1,
                1,
                work -> {
                    long[] first = {0};
                    Outcome<Done> outcome = Outcome.done();
                    for (int i = 0; i < plan.warmUps() && outcome.isOk(); i++) {
                        outcome =
                                move(work, first, first)
                                        .then(moved -> bare(work, first, first))
                                        .map(nanos -> Done.DONE);
                    }
                    return outcome;
                });
    }

    /** Does something with a pair of new caches. */
    private <T> Outcome<T> with(
            boolean pull,
            boolean scattered,
            long blockBytes,
            int all,
            int count,
            Function<Work, Outcome<T>> body) {
        CacheDesc desc = CacheDesc.device(1, DataType.INT8, all, blockBytes);
        String make = "allocate blocks 1 INT8 %d,%d %d".formatted(all, blockBytes, pull ? SEED : 0);
        return session.peer()
                .ask(make)
                .map(Long::parseLong)
                .then(
                        there ->
                                session.decoder()
                                        .allocateBlocksCache(desc)
                                        .then(
                                                here -> {
                                                    if (!pull) {
                                                        Patterns.fill(here, SEED);
                                                    }
                                                    Outcome<T> end =
                                                            body.apply(
                                                                    new Work(
                                                                            pull,
                                                                            scattered,
                                                                            blockBytes,
                                                                            all,
                                                                            count,
                                                                            here,
                                                                            there));
                                                    return freed(here, there).then(ok -> end);
                                                }));
    }

    private Outcome<Done> freed(Cache here, long there) {
        return session.peer()
                .ask("free " + there)
                .then(ok -> session.decoder().deallocateCache(here));
    }

    private Outcome<BenchRow> measure(Work work) {
        long[] nanos = new long[plan.rounds()];
        long[] engineNanos = new long[plan.rounds()];
        long[] controlNanos = new long[plan.rounds()];
        long requests = 0;
        boolean verified = true;
        SplittableRandom random = new SplittableRandom(SEED);
        // The first rounds warm up and do not count.
        for (int round = -2; round < plan.rounds(); round++) {
            long[] src = choose(work, random);
            long[] dst = work.scattered() ? choose(work, random) : src;
            if (clear(work) instanceof Outcome.Failed<?> failed) {
                return failed.as();
            }
            // In turns, each first every other time: what runs first finds colder caches.
            boolean engineFirst = (round & 1) != 0;
            Outcome<Long> bare = engineFirst ? bare(work, src, dst) : Outcome.ok(0L);
            long start = clock.nanos();
            Outcome<TransferReport> moved = move(work, src, dst);
            long end = clock.nanos();
            if (!engineFirst) {
                bare = bare(work, src, dst);
            }
            if (bare instanceof Outcome.Failed<Long> failed) {
                return failed.as();
            }
            Outcome<Boolean> arrived = moved.then(report -> arrived(work, src, dst));
            if (arrived instanceof Outcome.Failed<Boolean> failed) {
                return failed.as();
            }
            verified &= arrived.orThrow();
            requests = moved.orThrow().requests();
            if (round >= 0) {
                nanos[round] = end - start;
                controlNanos[round] = moved.orThrow().controlNanos();
                engineNanos[round] = bare.orThrow();
            }
        }
        return Outcome.ok(
                new BenchRow(
                        plan.label(),
                        work.pull() ? "pull" : "push",
                        work.scattered(),
                        work.blockBytes(),
                        work.count(),
                        requests,
                        median(nanos),
                        median(engineNanos),
                        Arrays.stream(nanos).min().orElseThrow(),
                        Arrays.stream(engineNanos).min().orElseThrow(),
                        median(controlNanos),
                        verified));
    }

    /** Nanoseconds of the bare engine for the same ranges. */
    private Outcome<Long> bare(Work work, long[] src, long[] dst) {
        List<TransferRequest> list =
                engine.requests(
                        work.pull() ? Opcode.READ : Opcode.WRITE,
                        Pieces.blocks(src, dst, work.blockBytes()),
                        target,
                        targetAddress);
        long start = clock.nanos();
        return engine.transfer(list, LIMIT).map(ok -> clock.nanos() - start);
    }

    private Outcome<TransferReport> move(Work work, long[] src, long[] dst) {
        CacheIndex there = new CacheIndex(Counterpart.CLUSTER, work.there());
        TransferOptions one = TransferOptions.DEFAULT.withTensorsPerLayer(1);
        return work.pull()
                ? session.decoder().pullBlocks(there, work.here(), src, dst, one)
                : session.decoder().pushBlocks(work.here(), there, src, dst, one);
    }

    /** All blocks in a random order, or the first ones as they lie. */
    private static long[] choose(Work work, SplittableRandom random) {
        long[] all = LongStream.range(0, work.all()).toArray();
        if (work.scattered()) {
            for (int i = all.length - 1; i > 0; i--) {
                int j = random.nextInt(i + 1);
                long swap = all[i];
                all[i] = all[j];
                all[j] = swap;
            }
        }
        return Arrays.copyOf(all, work.count());
    }

    /** The destination, so that bytes of the round before do not pass for those of this one. */
    private Outcome<?> clear(Work work) {
        if (!work.pull()) {
            return session.peer().ask("clear " + work.there());
        }
        Patterns.clear(work.here());
        return Outcome.done();
    }

    private Outcome<Boolean> arrived(Work work, long[] src, long[] dst) {
        return work.pull()
                ? Outcome.ok(Patterns.holds(work.here(), SEED, work.blockBytes(), src, dst))
                : session.peer()
                        .ask(
                                "check %d %d %d %s %s"
                                        .formatted(
                                                work.there(),
                                                SEED,
                                                work.blockBytes(),
                                                Counterpart.word(src),
                                                Counterpart.word(dst)))
                        .map(Boolean::parseBoolean);
    }

    private static long median(long[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }
}
