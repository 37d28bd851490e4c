package io.cassia.datadist.bench;

import io.cassia.base.Clock;
import io.cassia.datadist.cache.Cache;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheKey;
import io.cassia.datadist.exchange.TransferOptions;
import io.cassia.datadist.exchange.TransferReport;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.LongStream;

/**
 * Hands the KV cache of a request from prefill to decode in the ways that LLM-DataDist has: by key,
 * by blocks, and layer by layer while it is computed. Confined to the calling thread, which is the
 * decoder's; the prompt is the counterpart.
 */
public final class DataDistDemo {
    private static final int SEED = 7;

    private final Plan plan;
    private final Session session;
    private final Clock clock;

    /**
     * What is shown. Immutable.
     *
     * @param geometry of the model
     * @param tokens length of the request, whole blocks
     * @param rounds how often each step is done and timed, after one round to warm up
     * @param transports what may carry bytes
     */
    public record Plan(KvGeometry geometry, int tokens, int rounds, Set<Transport> transports) {
        /** Rounds the tokens up to whole blocks. */
        public Plan {
            int block = geometry.blockTokens();
            tokens = Math.ceilDiv(tokens, block) * block;
        }

        /** How both sides are set up. */
        public ServingPeer.Setup setup() {
            // Twice: the end of a transfer is told without waiting, and until it is heard the
            // memory of that round is held.
            long pool = 2 * geometry.tokenBytes() * tokens + (1L << 20);
            return new ServingPeer.Setup(pool, 0, true, transports);
        }
    }

    private DataDistDemo(Plan plan, Session session, Clock clock) {
        this.plan = plan;
        this.session = session;
        this.clock = clock;
    }

    /** Runs all steps; the codes of the steps when one fails. The counterpart stays open. */
    public static Outcome<List<DemoRow>> run(
            Plan plan, Counterpart prompt, Clock clock, MeterRegistry meters) {
        return Session.open(plan.setup(), prompt, clock, meters)
                .then(
                        session -> {
                            try (session) {
                                return new DataDistDemo(plan, session, clock).steps();
                            }
                        });
    }

    private Outcome<List<DemoRow>> steps() {
        return step("pull by key", this::byKey)
                .then(
                        first ->
                                step("pull of scattered blocks", this::byBlocks)
                                        .then(
                                                second ->
                                                        step("push layer by layer", this::byLayers)
                                                                .map(
                                                                        third ->
                                                                                List.of(
                                                                                        first,
                                                                                        second,
                                                                                        third))));
    }

    /** One round of a step. Immutable. */
    private record Moved(long bytes, long requests, long nanos, boolean verified) {}

    private Outcome<DemoRow> step(String name, Function<Integer, Outcome<Moved>> round) {
        List<Moved> all = new ArrayList<>();
        for (int i = 0; i <= plan.rounds(); i++) {
            switch (round.apply(i)) {
                case Outcome.Failed<Moved> failed -> {
                    return failed.in(name).as();
                }
                case Outcome.Ok<Moved>(Moved moved) -> all.add(moved);
            }
        }
        long[] nanos = all.stream().skip(1).mapToLong(Moved::nanos).sorted().toArray();
        return Outcome.ok(
                new DemoRow(
                        name,
                        plan.tokens(),
                        all.getFirst().bytes(),
                        all.getFirst().requests(),
                        nanos[nanos.length / 2],
                        all.stream().allMatch(Moved::verified)));
    }

    private Outcome<Moved> byKey(int round) {
        CacheDesc desc = plan.geometry().batches(1, plan.tokens());
        long[] whole = {0};
        return both(
                desc,
                "batches",
                SEED + " " + round,
                (src, dst) -> {
                    CacheKey key = CacheKey.request(Counterpart.CLUSTER, round);
                    long start = clock.nanos();
                    return session.decoder()
                            .pullCache(key, dst, 0, TransferOptions.DEFAULT)
                            .map(report -> moved(report, clock.nanos() - start, dst, whole, whole));
                });
    }

    /** Blocks of the source lie anywhere, as a paged cache in use has them. */
    private Outcome<Moved> byBlocks(int round) {
        int blocks = plan.tokens() / plan.geometry().blockTokens();
        List<Long> order = new ArrayList<>(LongStream.range(0, blocks).boxed().toList());
        Collections.shuffle(order, new Random(round));
        long[] src = order.stream().mapToLong(Long::longValue).toArray();
        long[] dst = LongStream.range(0, blocks).toArray();
        return both(
                plan.geometry().blocks(blocks),
                "blocks",
                Integer.toString(SEED),
                (from, to) -> {
                    CacheIndex source = new CacheIndex(Counterpart.CLUSTER, from);
                    long start = clock.nanos();
                    return session.decoder()
                            .pullBlocks(source, to, src, dst)
                            .map(report -> moved(report, clock.nanos() - start, to, src, dst));
                });
    }

    private Outcome<Moved> byLayers(int round) {
        long[] whole = {0};
        return both(
                plan.geometry().batches(1, plan.tokens()),
                "batches",
                Integer.toString(SEED),
                (from, to) ->
                        session.peer()
                                .ask("push %d %d %d".formatted(from, Session.DECODER, to.cacheId()))
                                .map(
                                        answer -> {
                                            long[] said =
                                                    Arrays.stream(answer.split(" ", -1))
                                                            .mapToLong(Long::parseLong)
                                                            .toArray();
                                            return new Moved(
                                                    said[0],
                                                    said[1],
                                                    said[2],
                                                    arrived(to, whole, whole));
                                        }));
    }

    private static Moved moved(
            TransferReport report, long nanos, Cache into, long[] src, long[] dst) {
        return new Moved(report.bytes(), report.requests(), nanos, arrived(into, src, dst));
    }

    private static boolean arrived(Cache into, long[] src, long[] dst) {
        return Patterns.holds(into, SEED, into.desc().geometry().orThrow().strideBytes(), src, dst);
    }

    private interface Step {
        Outcome<Moved> run(long src, Cache dst);
    }

    /** Makes both caches, runs the step, and gives both back. */
    private Outcome<Moved> both(CacheDesc desc, String kind, String seedAndKey, Step step) {
        String make =
                "allocate %s %d %s %s %s"
                        .formatted(
                                kind, desc.numTensors(), desc.dataType(), shape(desc), seedAndKey);
        return session.peer()
                .ask(make)
                .map(Long::parseLong)
                .then(
                        src ->
                                allocate(desc, kind)
                                        .then(
                                                dst -> {
                                                    Patterns.clear(dst);
                                                    Outcome<Moved> outcome = step.run(src, dst);
                                                    return session.peer()
                                                            .ask("free " + src)
                                                            .then(
                                                                    ok ->
                                                                            session.decoder()
                                                                                    .deallocateCache(
                                                                                            dst))
                                                            .then(ok -> outcome);
                                                }));
    }

    private static String shape(CacheDesc desc) {
        return Counterpart.word(desc.shape().stream().mapToLong(Long::longValue).toArray());
    }

    private Outcome<Cache> allocate(CacheDesc desc, String kind) {
        return kind.equals("blocks")
                ? session.decoder().allocateBlocksCache(desc)
                : session.decoder().allocateCache(desc);
    }
}
