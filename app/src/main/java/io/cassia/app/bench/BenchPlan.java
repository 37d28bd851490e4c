package io.cassia.app.bench;

import io.cassia.transfer.Opcode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What is measured: every operation with every block and batch size. Immutable.
 *
 * @param operations directions
 * @param blockBytes sizes of a request
 * @param batchSizes requests per call
 * @param threads callers at once
 * @param duration of one measurement
 * @param references whether plain sockets and memory copies are measured beside it
 */
public record BenchPlan(
        List<Opcode> operations,
        List<Long> blockBytes,
        List<Integer> batchSizes,
        int threads,
        Duration duration,
        boolean references) {
    /** One measurement. Immutable. */
    public record Cell(Opcode operation, long blockBytes, int batchSize) {}

    public BenchPlan {
        operations = List.copyOf(operations);
        blockBytes = List.copyOf(blockBytes);
        batchSizes = List.copyOf(batchSizes);
        if (threads < 1 || duration.isNegative() || duration.isZero()) {
            throw new IllegalArgumentException(threads + " threads for " + duration);
        }
    }

    /** All measurements, in the order in which they are shown. */
    public List<Cell> cells() {
        List<Cell> cells = new ArrayList<>();
        for (Opcode operation : operations) {
            for (long block : blockBytes) {
                batchSizes.forEach(batch -> cells.add(new Cell(operation, block, batch)));
            }
        }
        return cells;
    }

    /** Memory that each thread needs of its own, on each side. */
    public long threadBytes() {
        long block = blockBytes.stream().mapToLong(Long::longValue).max().orElse(1);
        long batch = batchSizes.stream().mapToLong(Integer::longValue).max().orElse(1);
        return Math.multiplyExact(block, batch);
    }

    /** Memory that is needed on each side, and at least what was wished for. */
    public long bufferBytes(long wishedBytes) {
        return Math.max(wishedBytes, Math.multiplyExact(threadBytes(), (long) threads));
    }
}
