package io.cassia.app.bench.store;

import io.cassia.app.bench.BenchInitiator;
import io.cassia.app.bench.BenchPlan;
import io.cassia.app.bench.store.StoreCell.Operation;
import io.cassia.app.bench.store.StoreLoad.Turn;
import io.cassia.app.bench.store.StorePlan.Shape;
import io.cassia.app.bench.store.StoreRow.Rate;
import io.cassia.app.bench.store.StoreRow.Round;
import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.PutOptions;
import io.cassia.store.StoreClient;
import io.cassia.store.StoreClientConfig;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.environment.EngineEnvironment;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs the measurements of one place after the other, each in rounds in which all that is compared
 * takes turns. Confined to its thread.
 */
public final class StoreBench {
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    /** Memory of the raw engine's side here, and of the node's that it uses. */
    private static final long RAW_BYTES = 128L << 20;

    private static final String HOST = "127.0.0.1";

    private final Clock clock;
    private final StorePlan plan;
    private final Optional<RedisReference> redis;
    private final Consumer<StoreRow> sink;
    private final Map<String, String> variables;

    /**
     * @param variables the environment, which decides the settings of the engines
     * @param sink told of each measurement as soon as it is known
     */
    public StoreBench(
            Clock clock,
            StorePlan plan,
            Optional<RedisReference> redis,
            Map<String, String> variables,
            Consumer<StoreRow> sink) {
        this.clock = clock;
        this.plan = plan;
        this.redis = redis;
        this.variables = Map.copyOf(variables);
        this.sink = sink;
    }

    /**
     * All shapes in one place.
     *
     * @param node Transfer Engine name of the node that shall hold the objects
     */
    public Outcome<List<StoreRow>> run(Where where, String master, String node) {
        return settings(where)
                .then(
                        settings ->
                                connect(settings, master, true)
                                        .then(
                                                client -> {
                                                    try (client) {
                                                        return connect(settings, master, false)
                                                                .then(
                                                                        unchecked ->
                                                                                run(
                                                                                        where,
                                                                                        settings,
                                                                                        client,
                                                                                        unchecked,
                                                                                        node));
                                                    }
                                                }));
    }

    private Outcome<StoreClient> connect(
            EngineEnvironment settings, String master, boolean checked) {
        StoreClientConfig config =
                new StoreClientConfig(master, StoreClientConfig.P2P, HOST, "default", DEADLINE)
                        .withEngine(settings)
                        .withMemory(StoreClientConfig.Memory.DEFAULT.withSums(checked));
        return StoreClient.connect(config, clock, new SimpleMeterRegistry());
    }

    private Outcome<EngineEnvironment> settings(Where where) {
        Map<String, String> all = new HashMap<>(variables);
        if (where == Where.REMOTE) {
            all.put("MC_FORCE_TCP", "1");
        }
        return switch (EngineEnvironment.read(all)) {
            case Outcome.Ok<EngineEnvironment> ok -> ok;
            case Outcome.Failed<EngineEnvironment> failed ->
                    Outcome.failed(StoreCode.INVALID_PARAMS, failed.detail());
        };
    }

    private Outcome<List<StoreRow>> run(
            Where where,
            EngineEnvironment settings,
            StoreClient client,
            StoreClient unchecked,
            String node) {
        try (unchecked) {
            return withEngine(
                    settings, node, raw -> run(where, new Clients(client, unchecked), raw, node));
        }
    }

    /** One that proves what it reads, and one whose objects cannot be proved. Immutable. */
    private record Clients(StoreClient checked, StoreClient unchecked) {}

    private Outcome<List<StoreRow>> withEngine(
            EngineEnvironment settings,
            String node,
            Function<BenchInitiator, Outcome<List<StoreRow>>> work) {
        return settings.config(TransferConfig.P2P, HOST, List::of)
                .then(config -> TransferEngine.start(config, clock, new SimpleMeterRegistry()))
                .then(
                        engine -> {
                            try (engine) {
                                return BenchInitiator.open(
                                                engine,
                                                node,
                                                rawBytes(),
                                                rawBytes(),
                                                clock,
                                                () -> 0)
                                        .then(
                                                raw -> {
                                                    try (raw) {
                                                        return work.apply(raw);
                                                    }
                                                });
                            }
                        });
    }

    private long rawBytes() {
        return Math.max(RAW_BYTES, Math.multiplyExact(plan.batchBytes(), (long) plan.threads()));
    }

    private Outcome<List<StoreRow>> run(
            Where where, Clients clients, BenchInitiator engine, String node) {
        PutOptions options = PutOptions.DEFAULT.withPreferred(List.of(node));
        List<StoreRow> rows = new ArrayList<>();
        try (StoreLoad load = new StoreLoad(clients.checked, options, clock, plan);
                StoreLoad other = new StoreLoad(clients.unchecked, options, clock, plan)) {
            Outcome<Done> warm =
                    raw(engine, plan.shapes().getFirst()).then(_ -> load.warmUp(plan.warmUp()));
            if (warm instanceof Outcome.Failed<Done> failed) {
                return failed.as();
            }
            for (Shape shape : plan.shapes()) {
                switch (rounds(where, shape, load, other, engine)) {
                    case Outcome.Failed<List<StoreRow>> failed -> {
                        return failed;
                    }
                    case Outcome.Ok<List<StoreRow>>(List<StoreRow> shown) -> {
                        shown.forEach(sink);
                        rows.addAll(shown);
                    }
                }
            }
        }
        return Outcome.ok(rows);
    }

    /** All that is compared, in turn, again and again; the first time is not counted. */
    private Outcome<List<StoreRow>> rounds(
            Where where, Shape shape, StoreLoad load, StoreLoad other, BenchInitiator engine) {
        Map<Operation, List<Round>> rounds = new EnumMap<>(Operation.class);
        for (int i = 0; i <= plan.rounds(); i++) {
            boolean last = i == plan.rounds();
            // The store is empty now, so that the raw engine may write to the same memory.
            Outcome<Map<Operation, Round>> round =
                    raw(engine, shape)
                            .then(
                                    raw ->
                                            load.turn(shape, last)
                                                    .then(
                                                            ours ->
                                                                    other.turn(shape, last)
                                                                            .then(
                                                                                    bare ->
                                                                                            round(
                                                                                                    where,
                                                                                                    shape,
                                                                                                    raw,
                                                                                                    ours,
                                                                                                    bare))));
            switch (round) {
                case Outcome.Failed<Map<Operation, Round>> failed -> {
                    return failed.as();
                }
                case Outcome.Ok<Map<Operation, Round>>(Map<Operation, Round> measured) -> {
                    if (i > 0) {
                        measured.forEach(
                                (operation, figures) ->
                                        rounds.computeIfAbsent(operation, _ -> new ArrayList<>())
                                                .add(figures));
                    }
                }
            }
        }
        List<StoreRow> rows = new ArrayList<>();
        rounds.forEach(
                (operation, measured) -> {
                    StoreCell cell = new StoreCell(where, operation, shape.bytes(), shape.batch());
                    rows.add(
                            new StoreRow(
                                    cell,
                                    plan.threads(),
                                    measured,
                                    plan.threads() == 1
                                            ? PeerFigures.of(cell)
                                            : OptionalDouble.empty()));
                });
        return Outcome.ok(rows);
    }

    private Outcome<Map<Operation, Round>> round(
            Where where,
            Shape shape,
            Map<Operation, Rate> raw,
            Map<Operation, Turn> ours,
            Map<Operation, Turn> unchecked) {
        return redisRates(where, shape)
                .map(
                        redisRates -> {
                            Map<Operation, Round> round = new EnumMap<>(Operation.class);
                            ours.forEach(
                                    (operation, turn) ->
                                            round.put(
                                                    operation,
                                                    round(
                                                            shape,
                                                            turn,
                                                            Optional.ofNullable(raw.get(operation)),
                                                            redisRates.get(operation),
                                                            unchecked.get(operation))));
                            return round;
                        });
    }

    private static Round round(
            Shape shape,
            Turn turn,
            Optional<Rate> raw,
            @Nullable Double redisRate,
            @Nullable Turn unchecked) {
        return new Round(
                turn.calls() * shape.batch(),
                turn.nanos(),
                turn.p50Nanos(),
                turn.p99Nanos(),
                raw,
                redisRate == null ? OptionalDouble.empty() : OptionalDouble.of(redisRate),
                unchecked == null ? OptionalLong.empty() : OptionalLong.of(unchecked.p50Nanos()));
    }

    /** As many requests in flight as a batch has objects, over loopback TCP; none without Redis. */
    private Outcome<Map<Operation, Double>> redisRates(Where where, Shape shape) {
        if (redis.isEmpty() || where == Where.OWN) {
            return Outcome.ok(Map.of());
        }
        int inFlight = shape.batch() * plan.threads();
        double expected = Math.min(1.5e9 / shape.bytes(), 25_000.0 * Math.min(inFlight, 3));
        long requests =
                Math.max(inFlight * 4L, (long) (expected * plan.duration().toMillis() / 1000));
        try {
            return Outcome.ok(redis.get().measure(shape.bytes(), inFlight, requests));
        } catch (IOException e) {
            return Outcome.failed(StoreCode.INTERNAL_ERROR, "redis-benchmark: " + e);
        }
    }

    /** The engine alone, against the same memory. */
    private Outcome<Map<Operation, Rate>> raw(BenchInitiator engine, Shape shape) {
        return rate(engine, Opcode.WRITE, shape)
                .then(
                        write ->
                                rate(engine, Opcode.READ, shape)
                                        .map(
                                                read ->
                                                        Map.of(
                                                                Operation.PUT, write,
                                                                Operation.GET, read)));
    }

    private Outcome<Rate> rate(BenchInitiator engine, Opcode operation, Shape shape) {
        BenchPlan.Cell cell = new BenchPlan.Cell(operation, shape.bytes(), shape.batch());
        double inFlight = plan.threads() * (double) shape.batchBytes();
        return engine.measure(cell, plan.threads(), plan.duration().dividedBy(2))
                .map(row -> new Rate(row.rate(), inFlight * 1e9 / row.p50Nanos()));
    }
}
