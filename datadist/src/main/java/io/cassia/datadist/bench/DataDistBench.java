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
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.TransferRequest;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Pulls and pushes of blocks beside the bare engine moving the same ranges. Confined to the calling
 * thread; both ends are in this process, and bytes go through sockets unless {@link Plan} says
 * otherwise.
 */
public final class DataDistBench {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /**
     * What is measured. Immutable.
     *
     * @param totalBytes bytes per call where blocks fill it; also the size of each cache
     * @param blockBytes sizes of blocks
     * @param blocksPerCall blocks per call; 0: as many as fill the total
     * @param rounds measured calls of each kind
     * @param sockets whether bytes go through sockets
     */
    public record Plan(
            long totalBytes,
            List<Long> blockBytes,
            int blocksPerCall,
            int rounds,
            boolean sockets) {
        /** The sizes that the field publishes: 16 KiB to 2 MiB, 128 MiB per call, 5 rounds. */
        public static final Plan STANDARD =
                new Plan(
                        128L << 20,
                        List.of(
                                16L << 10,
                                32L << 10,
                                64L << 10,
                                128L << 10,
                                256L << 10,
                                512L << 10,
                                1L << 20,
                                2L << 20),
                        0,
                        5,
                        true);

        public Plan {
            blockBytes = List.copyOf(blockBytes);
        }

        /** One block per call: what a call costs. */
        public Plan singleBlocks(int calls) {
            return new Plan(totalBytes, blockBytes, 1, calls, sockets);
        }
    }

    private final Plan plan;
    private final Clock clock;
    private final Pair pair;
    private final EnginePair engines;

    private DataDistBench(Plan plan, Clock clock, Pair pair, EnginePair engines) {
        this.plan = plan;
        this.clock = clock;
        this.pair = pair;
        this.engines = engines;
    }

    /** Runs all cells; the codes of what failed. */
    public static Outcome<List<BenchRow>> run(Plan plan, Clock clock, MeterRegistry meters) {
        // Twice: the end of the last transfer of a cell is told without waiting, and until it is
        // heard
        // the memory of that cell is held.
        return Pair.open(2 * plan.totalBytes() + (1L << 20), plan.sockets(), clock, meters)
                .then(
                        pair -> {
                            try (pair) {
                                return EnginePair.open(plan, clock, meters)
                                        .then(
                                                engines -> {
                                                    try (engines) {
                                                        return new DataDistBench(
                                                                        plan, clock, pair, engines)
                                                                .cells();
                                                    }
                                                });
                            }
                        });
    }

    private Outcome<List<BenchRow>> cells() {
        List<BenchRow> rows = new ArrayList<>();
        for (String operation : List.of("pull", "push")) {
            for (boolean scattered : new boolean[] {false, true}) {
                for (long blockBytes : plan.blockBytes()) {
                    switch (cell(operation, scattered, blockBytes)) {
                        case Outcome.Ok<BenchRow>(BenchRow row) -> rows.add(row);
                        case Outcome.Failed<BenchRow> failed -> {
                            return failed.as();
                        }
                    }
                }
            }
        }
        return Outcome.ok(rows);
    }

    private Outcome<BenchRow> cell(String operation, boolean scattered, long blockBytes) {
        int all = Math.toIntExact(plan.totalBytes() / blockBytes);
        int count = plan.blocksPerCall() == 0 ? all : Math.min(plan.blocksPerCall(), all);
        CacheDesc desc = CacheDesc.device(1, DataType.INT8, all, blockBytes);
        boolean pull = operation.equals("pull");
        return pair.prompt()
                .allocateBlocksCache(desc)
                .then(
                        from ->
                                pair.decoder()
                                        .allocateBlocksCache(desc)
                                        .then(
                                                to -> {
                                                    Patterns.fill(from, 1);
                                                    Outcome<BenchRow> row =
                                                            measure(
                                                                    new Work(
                                                                            pull,
                                                                            scattered,
                                                                            blockBytes,
                                                                            all,
                                                                            count,
                                                                            from,
                                                                            to));
                                                    return pair.prompt()
                                                            .deallocateCache(from)
                                                            .then(
                                                                    ok ->
                                                                            pair.decoder()
                                                                                    .deallocateCache(
                                                                                            to))
                                                            .then(ok -> row);
                                                }));
    }

    /** One cell with its caches. Immutable. */
    private record Work(
            boolean pull,
            boolean scattered,
            long blockBytes,
            int all,
            int count,
            Cache from,
            Cache to) {}

    private Outcome<BenchRow> measure(Work work) {
        long[] nanos = new long[plan.rounds()];
        long[] engineNanos = new long[plan.rounds()];
        long requests = 0;
        SplittableRandom random = new SplittableRandom(1);
        // The first round warms up and does not count.
        for (int round = -1; round < plan.rounds(); round++) {
            long[] src = choose(work, random);
            long[] dst = work.scattered() ? choose(work, random) : src;
            clear(work, dst);
            long start = clock.nanos();
            Outcome<TransferReport> moved = move(work, src, dst);
            long end = clock.nanos();
            if (moved instanceof Outcome.Failed<TransferReport> failed) {
                return failed.as();
            }
            requests = moved.orThrow().requests();
            List<TransferRequest> list =
                    engines.requests(
                            work.pull() ? Opcode.READ : Opcode.WRITE,
                            Pieces.blocks(src, dst, work.blockBytes()));
            long engineStart = clock.nanos();
            Outcome<Done> bare = engines.transfer(list, LIMIT);
            long engineEnd = clock.nanos();
            if (bare instanceof Outcome.Failed<Done> failed) {
                return failed.as();
            }
            if (!arrived(work, src, dst)) {
                return Outcome.failed(LlmStatus.LLM_FAILED, "a block did not arrive as it was");
            }
            if (round >= 0) {
                nanos[round] = end - start;
                engineNanos[round] = engineEnd - engineStart;
            }
        }
        return Outcome.ok(
                new BenchRow(
                        work.pull() ? "pull" : "push",
                        work.scattered(),
                        work.blockBytes(),
                        work.count(),
                        median(nanos),
                        median(engineNanos),
                        requests));
    }

    private Outcome<TransferReport> move(Work work, long[] src, long[] dst) {
        return work.pull()
                ? pair.decoder()
                        .pullBlocks(
                                new CacheIndex(Pair.PROMPT, work.from().cacheId()),
                                work.to(),
                                src,
                                dst)
                : pair.prompt()
                        .pushBlocks(
                                work.from(),
                                new CacheIndex(Pair.DECODER, work.to().cacheId()),
                                src,
                                dst,
                                TransferOptions.DEFAULT.withTensorsPerLayer(1));
    }

    /** Ascending blocks, or so mixed that next to none adjoin. */
    private static long[] choose(Work work, SplittableRandom random) {
        long[] all = new long[work.all()];
        Arrays.setAll(all, i -> i);
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

    private static void clear(Work work, long[] dst) {
        for (long block : dst) {
            work.to()
                    .tensors()
                    .getFirst()
                    .asSlice(block * work.blockBytes(), work.blockBytes())
                    .fill((byte) 0);
        }
    }

    private static boolean arrived(Work work, long[] src, long[] dst) {
        long bytes = work.blockBytes();
        for (int i = 0; i < src.length; i++) {
            if (!Patterns.same(work.from(), src[i] * bytes, work.to(), dst[i] * bytes, bytes)) {
                return false;
            }
        }
        return true;
    }

    private static long median(long[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }
}
