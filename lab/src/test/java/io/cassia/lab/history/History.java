package io.cassia.lab.history;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the clients of a run did and saw, on the one monotonic clock of the host, and whether it can
 * have been so. Confined to its test.
 *
 * <p>A read must return the bytes of one write of its key, all of them, that had begun before the
 * read ended; and not of a write after which, and before the read began, another write or a removal
 * of the key began and ended well.
 */
final class History {
    private static final long NEVER = Long.MAX_VALUE;

    /** A write, or with version 0 a removal. */
    private static final class Change {
        final long version;
        final long start;
        long end = NEVER;
        boolean succeeded;

        Change(long version, long start) {
            this.version = version;
            this.start = start;
        }
    }

    private record Read(int key, long version, long start, long end, String line) {}

    private final Map<Integer, List<Change>> changes = new HashMap<>();
    private final Map<Long, Change> byVersion = new HashMap<>();
    private final List<Read> reads = new ArrayList<>();
    private final Map<String, Integer> outcomes = new HashMap<>();
    private final List<String> violations = new ArrayList<>();

    /**
     * Takes a client's log, if there is one; its last line may be cut off.
     *
     * <pre>
     *   B change start key version        a write begins; version 0 for a removal
     *   E change end outcome              it ended
     *   R key version start end outcome   a read; version -1 when its bytes fit no write
     * </pre>
     */
    void add(Path log) throws IOException {
        Map<String, Change> open = new HashMap<>();
        if (!Files.exists(log)) {
            return; // Its client never came to writing anything.
        }
        String text = Files.readString(log);
        String whole = text.substring(0, text.lastIndexOf('\n') + 1);
        for (String line : whole.lines().toList()) {
            String[] word = line.split(" ", -1);
            switch (word[0]) {
                case "B" -> {
                    Change change = new Change(Long.parseLong(word[4]), Long.parseLong(word[2]));
                    open.put(word[1], change);
                    changes.computeIfAbsent(Integer.parseInt(word[3]), _ -> new ArrayList<>())
                            .add(change);
                    if (change.version != 0) {
                        byVersion.put(change.version, change);
                    }
                }
                case "E" -> {
                    Change change = requireNonNull(open.remove(word[1]), line);
                    count("change " + word[3]);
                    change.succeeded = word[3].equals("OK");
                    change.end = change.succeeded ? Long.parseLong(word[2]) : NEVER;
                }
                case "R" -> {
                    count("read " + word[5]);
                    if (word[5].equals("OK")) {
                        reads.add(
                                new Read(
                                        Integer.parseInt(word[1]),
                                        Long.parseLong(word[2]),
                                        Long.parseLong(word[3]),
                                        Long.parseLong(word[4]),
                                        line));
                    }
                }
                default -> violations.add("log line " + line);
            }
        }
    }

    private void count(String outcome) {
        outcomes.merge(outcome, 1, Integer::sum);
    }

    Outcomes outcomes() {
        return new Outcomes(outcomes);
    }

    int successfulReads() {
        return reads.size();
    }

    /** What cannot have been. */
    List<String> violations() {
        Map<Integer, Successes> successes = new HashMap<>();
        changes.forEach((key, all) -> successes.put(key, Successes.of(all)));
        for (Read read : reads) {
            Change source = byVersion.get(read.version);
            if (read.version == -1 || source == null || Content.key(read.version) != read.key) {
                violations.add("bytes of no write of the key: " + read.line);
            } else if (source.start > read.end) {
                violations.add("bytes from the future: " + read.line);
            } else if (source.end != NEVER) {
                long over = requireNonNull(successes.get(read.key)).firstEndAfter(source.end);
                if (over < read.start) {
                    violations.add(
                            "bytes of a version after which a change had ended at %d: %s"
                                    .formatted(over, read.line));
                }
            }
        }
        return violations;
    }

    /** The changes of a key that succeeded, in the order of their beginnings. Immutable. */
    private static final class Successes {
        private final long[] starts;

        /** The earliest end of each and of all that began later. */
        private final long[] firstEnds;

        private Successes(long[] starts, long[] firstEnds) {
            this.starts = starts;
            this.firstEnds = firstEnds;
        }

        static Successes of(List<Change> changes) {
            List<Change> sorted =
                    changes.stream()
                            .filter(change -> change.succeeded)
                            .sorted(Comparator.comparingLong(change -> change.start))
                            .toList();
            long[] starts = sorted.stream().mapToLong(change -> change.start).toArray();
            long[] firstEnds = new long[starts.length];
            long first = NEVER;
            for (int i = starts.length - 1; i >= 0; i--) {
                first = Math.min(first, sorted.get(i).end);
                firstEnds[i] = first;
            }
            return new Successes(starts, firstEnds);
        }

        /** The earliest end of those that began later than that. */
        long firstEndAfter(long nanos) {
            int at = Arrays.binarySearch(starts, nanos + 1);
            int from = at >= 0 ? at : -at - 1;
            while (from > 0 && starts[from - 1] > nanos) {
                from--;
            }
            return from < firstEnds.length ? firstEnds[from] : NEVER;
        }
    }
}
