package io.cassia.app.bench.store;

import io.cassia.app.bench.store.StoreCell.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What is measured. Immutable.
 *
 * @param places where the memory is
 * @param shapes sizes with their batches
 * @param threads callers at once
 * @param duration of one operation in one turn
 * @param rounds in which all that is compared takes turns, after one to warm up
 * @param warmUp before the rounds of a place; its processes have just been started
 */
public record StorePlan(
        List<Where> places,
        List<Shape> shapes,
        int threads,
        Duration duration,
        int rounds,
        Duration warmUp) {
    /** Memory that objects of one round lie in at most, unless one batch needs more. */
    private static final long ROUND_BYTES = 128L << 20;

    /** Objects of one round at most, unless one batch has more. */
    private static final long ROUND_OBJECTS = 4096;

    private static final long ROUND_CALLS = 512;

    /** Objects of one size, so many per call. Immutable. */
    public record Shape(long bytes, int batch) {
        public Shape {
            if (bytes < 1 || batch < 1) {
                throw new IllegalArgumentException(bytes + " bytes, batches of " + batch);
            }
        }

        long batchBytes() {
            return Math.multiplyExact(bytes, (long) batch);
        }
    }

    public StorePlan {
        places = List.copyOf(places);
        shapes = List.copyOf(shapes);
        if (threads < 1
                || rounds < 1
                || duration.isZero()
                || duration.isNegative()
                || warmUp.isNegative()) {
            throw new IllegalArgumentException(
                    "%d threads for %s, %d rounds after %s"
                            .formatted(threads, duration, rounds, warmUp));
        }
    }

    /** Each size with each batch, which is cut down to what fits into so many bytes. */
    public static List<Shape> shapes(List<Long> sizes, List<Integer> batches, long mostBatchBytes) {
        List<Shape> shapes = new ArrayList<>();
        for (long bytes : sizes) {
            for (int batch : batches) {
                long fitting = Math.clamp(mostBatchBytes / bytes, 1, batch);
                Shape shape = new Shape(bytes, Math.toIntExact(fitting));
                if (!shapes.contains(shape)) {
                    shapes.add(shape);
                }
            }
        }
        return shapes;
    }

    /** Puts and gets of each place and shape, in the order in which they are shown. */
    public List<StoreCell> cells() {
        List<StoreCell> cells = new ArrayList<>();
        for (Where where : places) {
            for (Shape shape : shapes) {
                for (Operation operation : Operation.values()) {
                    cells.add(new StoreCell(where, operation, shape.bytes(), shape.batch()));
                }
            }
        }
        return cells;
    }

    /** Calls of one thread in one round. */
    int callsPerRound(Shape shape) {
        long batches =
                Math.min(
                        ROUND_BYTES / shape.batchBytes(),
                        Math.min(ROUND_CALLS, ROUND_OBJECTS / shape.batch()));
        return Math.toIntExact(Math.max(1, batches / threads));
    }

    /** Memory that all objects of one round take. */
    long roundBytes() {
        return shapes.stream()
                .mapToLong(shape -> (long) callsPerRound(shape) * threads * shape.batchBytes())
                .max()
                .orElse(0);
    }

    /** Memory that each thread reads into. */
    long batchBytes() {
        return shapes.stream().mapToLong(Shape::batchBytes).max().orElse(1);
    }

    /** Memory that the pool must have: a round, and room for what is freed late. */
    public long segmentBytes() {
        return Math.max(256L << 20, roundBytes() + roundBytes() / 2);
    }
}
