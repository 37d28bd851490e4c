package io.cassia.app.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One measurement of a master. Immutable.
 *
 * @param operation what is called
 * @param clients connections, each with a thread of its own
 * @param inFlight requests that a client has sent and not got answered
 * @param batch keys of a request
 * @param peer keys per second of Mooncake's master in the same place, on a machine of this kind; 0:
 *     not known
 */
public record MasterCell(Operation operation, int clients, int inFlight, int batch, double peer) {
    /** What is called. */
    public enum Operation {
        EXIST,
        GET,
        /** PutStart and PutEnd: a key counts when both are done. */
        PUT;

        /** In lower case. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** One request that is waited for at a time. */
    static MasterCell waiting(Operation operation, int clients, int batch, double peer) {
        return new MasterCell(operation, clients, 1, batch, peer);
    }

    /** Every operation with these numbers in flight, one key each. */
    static List<MasterCell> pipelines(List<Integer> depths) {
        List<MasterCell> cells = new ArrayList<>();
        for (Operation operation : Operation.values()) {
            for (int depth : depths) {
                cells.add(new MasterCell(operation, 1, depth, 1, 0));
            }
        }
        return cells;
    }

    /** Every operation in batches of these sizes, one request at a time. */
    static List<MasterCell> batches(List<Integer> sizes) {
        List<MasterCell> cells = new ArrayList<>();
        for (Operation operation : Operation.values()) {
            for (int size : sizes) {
                cells.add(waiting(operation, 1, size, 0));
            }
        }
        return cells;
    }

    /** What is known of Mooncake's master (main 3b5a59413, C++ release build, 2 cores). */
    static List<MasterCell> peers() {
        return List.of(
                waiting(Operation.EXIST, 1, 1, 12_500),
                waiting(Operation.EXIST, 2, 1, 22_800),
                waiting(Operation.EXIST, 4, 1, 35_800),
                waiting(Operation.EXIST, 1, 16, 155_000),
                waiting(Operation.GET, 1, 1, 11_100),
                waiting(Operation.GET, 4, 1, 31_000),
                waiting(Operation.GET, 1, 128, 479_000),
                waiting(Operation.GET, 4, 128, 794_000),
                waiting(Operation.PUT, 1, 1, 5_600),
                waiting(Operation.PUT, 4, 1, 15_000),
                waiting(Operation.PUT, 1, 128, 110_000),
                waiting(Operation.PUT, 4, 128, 253_000));
    }

    /** Requests that Redis gets at once when it stands beside this. */
    int pipeline() {
        return Math.max(inFlight, batch);
    }
}
