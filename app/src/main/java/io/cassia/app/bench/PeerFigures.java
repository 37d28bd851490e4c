package io.cassia.app.bench;

import io.cassia.transfer.Opcode;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the C++ engine does on a machine of two cores over loopback with pooled connections and one
 * thread: medians, in GB/s. Immutable. Figures of another run on another day: they tell the order,
 * and only ratios within one run tell more.
 */
public final class PeerFigures {
    /** Sizes of a request, by rows. */
    public static final List<Long> BLOCKS = List.of(4096L, 65_536L, 1L << 20, 4L << 20);

    /** Requests in flight, by columns. */
    public static final List<Integer> DEPTHS = List.of(1, 16, 128);

    private static final Map<Opcode, double[][]> GIGABYTES =
            Map.of(
                    Opcode.READ,
                    new double[][] {
                        {0.084, 0.138, 0.145},
                        {0.81, 1.69, 1.44},
                        {1.43, 1.84, 1.82},
                        {2.26, 1.86, 1.90}
                    },
                    Opcode.WRITE,
                    new double[][] {
                        {0.082, 0.131, 0.136},
                        {1.16, 1.65, 1.69},
                        {2.43, 2.17, 2.20},
                        {2.26, 1.92, 2.02}
                    });

    private PeerFigures() {}

    /** Bytes per second; nothing for what was not measured there. */
    public static Optional<Double> rate(BenchPlan.Cell cell) {
        int row = BLOCKS.indexOf(cell.blockBytes());
        int column = DEPTHS.indexOf(cell.batchSize());
        double[][] figures = GIGABYTES.get(cell.operation());
        return row < 0 || column < 0 || figures == null
                ? Optional.empty()
                : Optional.of(figures[row][column] * 1e9);
    }
}
