package io.cassia.lab.history;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the operations of a run ended with, and why each of these ends is natural. Immutable. */
final class Outcomes {
    static final String MISMATCH = "read CHECKSUM_MISMATCH";

    private static final Map<String, String> WHY =
            Map.ofEntries(
                    Map.entry("read OK", ""),
                    Map.entry("read OBJECT_NOT_FOUND", "never put, removed, evicted, or lost"),
                    Map.entry("read REPLICA_IS_NOT_READY", "its first put is under way"),
                    Map.entry("read INVALID_READ", "the range ends behind the object"),
                    Map.entry("read INVALID_PARAMS", "the same, by the REST service"),
                    Map.entry("read LEASE_EXPIRED", "reader, node or machine stood for a lease"),
                    Map.entry("read TRANSFER_FAIL", "node killed, and not yet given up"),
                    Map.entry(MISMATCH, "a writer stood still, and wrote to what was another's"),
                    Map.entry("read RPC_TIMEOUT", "the client stood for longer than a call"),
                    Map.entry("read RPC_FAIL", "the same"),
                    Map.entry("change OK", ""),
                    Map.entry("change OBJECT_NOT_FOUND", "nothing to remove; or put given up"),
                    Map.entry("change OBJECT_ALREADY_EXISTS", "a put of what is, or is being put"),
                    Map.entry("change OBJECT_HAS_LEASE", "a removal of what is being read"),
                    Map.entry("change REPLICA_IS_NOT_READY", "a removal of what is being put"),
                    Map.entry("change OBJECT_HAS_REPLICATION_TASK", "it is being copied"),
                    Map.entry("change ILLEGAL_CLIENT", "an upsert by another took its place"),
                    Map.entry("change INVALID_WRITE", "the put took so long that it was given up"),
                    Map.entry("change NO_AVAILABLE_HANDLE", "all is leased, in flight or kept"),
                    Map.entry("change TRANSFER_FAIL", "nodes killed, or stopped for too long"),
                    Map.entry("change WRITE_FAIL", "the node was killed and started again"),
                    Map.entry("change RPC_TIMEOUT", "the client stood for longer than a call"),
                    Map.entry("change RPC_FAIL", "the same"),
                    Map.entry("read copy-OK", ""),
                    Map.entry("read copy-OBJECT_NOT_FOUND", "gone since it was looked up"),
                    Map.entry("read copy-REPLICA_IS_NOT_READY", "its first put is under way"),
                    Map.entry("read copy-REPLICA_ALREADY_EXISTS", "it is there already"),
                    Map.entry("read copy-SEGMENT_NOT_FOUND", "the target was killed"),
                    Map.entry("read copy-UNAVAILABLE_IN_CURRENT_STATUS", "the target is silent"),
                    Map.entry("read copy-RPC_TIMEOUT", "the client stood for longer than a call"),
                    Map.entry("read copy-RPC_FAIL", "the same"));

    private final Map<String, Integer> counts;

    Outcomes(Map<String, Integer> counts) {
        this.counts = new TreeMap<>(counts);
    }

    int of(String outcome) {
        return counts.getOrDefault(outcome, 0);
    }

    /** Ends that nobody has explained yet. */
    List<String> unexplained() {
        List<String> unexplained = new ArrayList<>(counts.keySet());
        unexplained.removeAll(WHY.keySet());
        return unexplained;
    }

    /** For people: how many, of what, and why. */
    String table() {
        StringBuilder table = new StringBuilder();
        counts.forEach(
                (outcome, count) ->
                        table.append("%9d  %-42s %s%n".formatted(count, outcome, why(outcome))));
        return table.toString();
    }

    private static String why(String outcome) {
        return WHY.getOrDefault(outcome, "?");
    }
}
