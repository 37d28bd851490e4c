package io.cassia.master.core;

import io.cassia.rpc.mooncake.Segment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Confined to the master's lock. Ranges of nodes' memory that somebody may still read or write by
 * what he was told before their segment went away. A node that was taken for dead may mount the
 * same memory again: these ranges are given to nobody else until the old leases and writes are
 * over.
 */
final class Quarantine {
    /** From offset {@code from} to before {@code to} of a segment. */
    record Range(long from, long to, long until) {}

    private final Map<String, List<Range>> byEndpoint = new LinkedHashMap<>();

    /** Keeps a range of a segment that is going away. */
    void add(Segment segment, long offset, long length, long until) {
        long from = segment.base() + offset;
        byEndpoint
                .computeIfAbsent(segment.teEndpoint(), _ -> new ArrayList<>())
                .add(new Range(from, from + length, until));
    }

    /** The ranges inside a segment that is being mounted, in order and without overlap. */
    List<Range> inside(Segment segment, long now) {
        List<Range> kept = byEndpoint.get(segment.teEndpoint());
        if (kept == null) {
            return List.of();
        }
        List<Range> found = new ArrayList<>();
        for (Range range : kept) {
            // The difference is right for unsigned addresses, too.
            long from = Math.max(0, range.from - segment.base());
            long to = Math.min(segment.size(), range.to - segment.base());
            if (from < to && range.until > now) {
                found.add(new Range(from, to, range.until));
            }
        }
        found.sort(Comparator.comparingLong(Range::from).thenComparingLong(Range::to));
        List<Range> apart = new ArrayList<>();
        for (Range range : found) {
            Range last = apart.isEmpty() ? null : apart.getLast();
            if (last != null && range.from < last.to) {
                apart.removeLast();
                apart.add(
                        new Range(
                                last.from,
                                Math.max(last.to, range.to),
                                Math.max(last.until, range.until)));
            } else {
                apart.add(range);
            }
        }
        return apart;
    }

    /** Forgets what is over. */
    void expire(long now) {
        if (!byEndpoint.isEmpty()) {
            byEndpoint.values().forEach(kept -> kept.removeIf(range -> range.until <= now));
            byEndpoint.values().removeIf(List::isEmpty);
        }
    }

    void digest(Digest digest) {
        for (List<Range> kept : byEndpoint.values()) {
            for (Range range : kept) {
                digest.add(range.from);
                digest.add(range.to);
                digest.add(range.until);
            }
        }
    }
}
