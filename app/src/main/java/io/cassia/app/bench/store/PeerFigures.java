package io.cassia.app.bench.store;

import io.cassia.app.bench.store.StoreCell.Operation;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * What the C++ implementation does on a machine of this kind: 2 cores, loopback, client and server
 * sharing them, one thread (main 3b5a59413, release build, TCP; November 2026). Immutable. Absolute
 * figures drift between machines; the other columns are of the same run.
 */
public final class PeerFigures {
    private static final long KIB = 1 << 10;
    private static final long MIB = 1 << 20;

    private static final Map<StoreCell, Double> OBJECTS_PER_SECOND = figures();

    private PeerFigures() {}

    /** Objects per second; empty for a cell that was not measured there. */
    public static OptionalDouble of(StoreCell cell) {
        Double rate = OBJECTS_PER_SECOND.get(cell);
        return rate == null ? OptionalDouble.empty() : OptionalDouble.of(rate);
    }

    private static Map<StoreCell, Double> figures() {
        Map<StoreCell, Double> figures = new HashMap<>();
        add(figures, Where.REMOTE, 4 * KIB, 1, 3_300, 6_000);
        add(figures, Where.REMOTE, 4 * KIB, 16, 17_100, 25_300);
        add(figures, Where.REMOTE, 128 * KIB, 1, 3_500, 4_600);
        add(figures, Where.REMOTE, 128 * KIB, 16, 11_800, 11_600);
        add(figures, Where.REMOTE, MIB, 1, 1_762, 1_220);
        add(figures, Where.REMOTE, MIB, 16, 1_573, 1_850);
        add(figures, Where.REMOTE, 16 * MIB, 1, 114, 106);
        add(figures, Where.REMOTE, 16 * MIB, 4, 110, 110);
        add(figures, Where.OWN, 4 * KIB, 1, 6_000, 11_300);
        add(figures, Where.OWN, 4 * KIB, 16, 60_000, 107_000);
        add(figures, Where.OWN, MIB, 1, 3_927, 5_336);
        add(figures, Where.OWN, MIB, 16, 7_296, 8_381);
        return Map.copyOf(figures);
    }

    private static void add(
            Map<StoreCell, Double> figures,
            Where where,
            long bytes,
            int batch,
            double put,
            double get) {
        figures.put(new StoreCell(where, Operation.PUT, bytes, batch), put);
        figures.put(new StoreCell(where, Operation.GET, bytes, batch), get);
    }
}
