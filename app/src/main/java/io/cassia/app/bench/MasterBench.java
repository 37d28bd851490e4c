package io.cassia.app.bench;

import io.cassia.base.Clock;
import io.cassia.master.Master;
import io.cassia.master.MasterConfig;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.DoubleSupplier;
import org.HdrHistogram.Histogram;

/** Measures a master over its RPC port. Confined to its thread. */
public final class MasterBench implements AutoCloseable {
    private static final int MOST_CLIENTS = 4;
    private static final long LONGEST_NANOS = Duration.ofMinutes(5).toNanos();
    private static final int COLLECTIONS = 4;

    private final Clock clock;
    private final List<MasterLoad> clients = new ArrayList<>();
    private final ExecutorService threads = Executors.newFixedThreadPool(MOST_CLIENTS);
    private long objects;

    /** Connects to a master that holds nothing yet. */
    public MasterBench(String host, int port, Clock clock) {
        this.clock = clock;
        for (int i = 1; i <= MOST_CLIENTS; i++) {
            clients.add(new MasterLoad(host, port, i, clock));
        }
    }

    /** Everything that the issue and the peers' figures ask for. */
    public static List<MasterCell> cells(List<Integer> depths, List<Integer> batches) {
        List<MasterCell> cells = new ArrayList<>(MasterCell.pipelines(depths));
        cells.addAll(MasterCell.batches(batches));
        cells.addAll(MasterCell.peers());
        return cells;
    }

    /** The configuration of the master that is measured: any port, and nothing beside it. */
    public static MasterConfig config() {
        return MasterConfig.builder()
                .rpc("127.0.0.1", 0)
                .httpOff()
                .clientTtl(Duration.ofHours(12))
                .build();
    }

    /** Puts so many objects. */
    public void prepare(long count) {
        objects = count;
        clients.getFirst().mount();
        clients.getFirst().fill(0, count);
    }

    /**
     * One cell in some rounds, in each of which Redis comes first; the medians. What else runs on
     * the machine, and where the kernel puts the two ends, changes from second to second.
     *
     * @param redis GETs per second, measured anew at each call
     */
    public MasterRow measure(MasterCell cell, Duration duration, int rounds, DoubleSupplier redis) {
        List<MasterRow> rows = new ArrayList<>();
        List<Double> references = new ArrayList<>();
        Measured _ = run(cell, duration.dividedBy(2));
        for (int i = 0; i < rounds; i++) {
            references.add(redis.getAsDouble());
            rows.add(round(cell, duration));
        }
        rows.sort(Comparator.comparingDouble(MasterRow::rate));
        references.sort(Comparator.naturalOrder());
        return rows.get(rounds / 2).beside(references.get(rounds / 2));
    }

    private MasterRow round(MasterCell cell, Duration duration) {
        long start = clock.nanos();
        Measured measured = run(cell, duration);
        long nanos = clock.nanos() - start;
        if (cell.operation() == MasterCell.Operation.PUT) {
            clients.getFirst().refill(objects);
        }
        return new MasterRow(
                cell,
                objects,
                measured.keys,
                nanos,
                measured.times.getValueAtPercentile(50),
                measured.times.getValueAtPercentile(99),
                0);
    }

    private record Measured(long keys, Histogram times) {}

    private Measured run(MasterCell cell, Duration duration) {
        long end = clock.nanos() + duration.toNanos();
        List<Future<Measured>> running = new ArrayList<>();
        for (MasterLoad client : clients.subList(0, cell.clients())) {
            running.add(
                    threads.submit(
                            () -> {
                                Histogram times = new Histogram(LONGEST_NANOS, 3);
                                long keys = client.measure(cell, objects, end, times);
                                return new Measured(keys, times);
                            }));
        }
        long keys = 0;
        Histogram all = new Histogram(LONGEST_NANOS, 3);
        for (Future<Measured> each : running) {
            Measured part = get(each);
            keys += part.keys;
            all.add(part.times);
        }
        return new Measured(keys, all);
    }

    private static <T> T get(Future<T> future) {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("a client failed", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** What objects cost, in a master of this process. */
    public static Outcome<HeapRow> heap(long objects, Duration duration, Clock clock) {
        MasterConfig config = config().toBuilder().maxMetadataBytes(Long.MAX_VALUE).build();
        return Master.start(config, clock, new SimpleMeterRegistry())
                .map(
                        master -> {
                            try (master;
                                    MasterBench bench =
                                            new MasterBench("127.0.0.1", master.rpcPort(), clock)) {
                                return bench.heap(objects, duration);
                            }
                        });
    }

    private HeapRow heap(long count, Duration duration) {
        clients.getFirst().mount();
        clients.getFirst().fill(0, 1000);
        long before = usedHeap();
        long start = clock.nanos();
        clients.getFirst().fill(1000, count + 1000);
        long took = clock.nanos() - start;
        long bytes = usedHeap() - before;
        objects = count;
        MasterCell exist = MasterCell.waiting(MasterCell.Operation.EXIST, 1, 1, 0);
        return new HeapRow(
                count,
                bytes,
                keyBytes(),
                count * 1e9 / took,
                measure(exist, duration, 3, () -> 0).p50Nanos());
    }

    /** With the array's header and its padding, compact headers assumed. */
    private static long keyBytes() {
        return (12L + MasterLoad.key(0).length() + 7) & ~7;
    }

    private static long usedHeap() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }

    @Override
    public void close() {
        threads.shutdown();
        clients.forEach(MasterLoad::close);
    }
}
