package io.cassia.app.bench.store;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/**
 * What a figure of a measurement is to reach. Immutable.
 *
 * @param cell what was measured
 * @param figure what is compared
 * @param found its value
 * @param reach at least; at most when {@code atMost}
 * @param remark what else the reader should know, mostly nothing
 */
public record StoreGoal(
        StoreCell cell, String figure, double found, double reach, boolean atMost, String remark) {
    private static final long MIB = 1 << 20;
    private static final long LARGE_BYTES = MIB;
    private static final long MEDIUM_BYTES = 128 << 10;

    private static final double LARGE_BY_RAW = 0.9;
    private static final double MEDIUM_BY_RAW = 0.6;
    private static final double SUMS_SHARE = 0.1;
    private static final double REMOTE_BY_REDIS = 2;
    private static final double HOST_BY_REDIS = 5;
    private static final double BY_PEER = 1;

    /** Whether it is reached. */
    public boolean isReached() {
        return atMost ? found <= reach : found >= reach;
    }

    /** Those of a measurement; those that were not measured are left out. */
    public static List<StoreGoal> of(StoreRow row) {
        StoreCell cell = row.cell();
        List<StoreGoal> goals = new ArrayList<>();
        if (cell.bytes() >= LARGE_BYTES) {
            add(goals, cell, "by the raw engine", row.rawRatio(), LARGE_BY_RAW, false, "");
        } else if (cell.bytes() == MEDIUM_BYTES && cell.batch() > 1) {
            add(goals, cell, "by the raw engine", row.rawRatio(), MEDIUM_BY_RAW, false, "");
        }
        if (cell.bytes() == MIB) {
            add(goals, cell, "share of checksums", row.checksumShare(), SUMS_SHARE, true, "");
        }
        if (cell.where() != Where.OWN) {
            double reach = cell.where() == Where.REMOTE ? REMOTE_BY_REDIS : HOST_BY_REDIS;
            OptionalDouble possible = row.rawByRedis();
            boolean hopeless = possible.isPresent() && possible.getAsDouble() < reach;
            add(
                    goals,
                    cell,
                    "by Redis",
                    row.redisRatio(),
                    reach,
                    false,
                    hopeless
                            ? "the raw engine itself: %.2f".formatted(possible.getAsDouble())
                            : "");
        }
        add(goals, cell, "by the C++ store", row.peerRatio(), BY_PEER, false, "");
        return goals;
    }

    private static void add(
            List<StoreGoal> goals,
            StoreCell cell,
            String figure,
            OptionalDouble found,
            double reach,
            boolean atMost,
            String remark) {
        if (found.isPresent()) {
            goals.add(new StoreGoal(cell, figure, found.getAsDouble(), reach, atMost, remark));
        }
    }
}
