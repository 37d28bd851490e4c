package io.cassia.lab.process;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * What processes held over the time of a run, and whether it grew. Confined to its test.
 *
 * <p>The first quarter of the samples is for warming up. The median of the second quarter is
 * compared with that of the last one, so that a sample taken at a bad moment decides nothing. Who
 * holds more than before, by more than the tolerance, has grown.
 */
public final class Footprints {
    private static final int FEWEST = 8;
    private static final int PARTS_SHOWN = 8;

    private final Map<String, Long> pids = new LinkedHashMap<>();
    private final Map<String, List<Footprint>> series = new LinkedHashMap<>();

    /**
     * How much more of each may be there late than early. Immutable.
     *
     * @param heapKib live objects
     * @param nativeKib the JVM's own book
     * @param anonymousKib the kernel's book; allocators keep pieces, so this is coarser
     * @param threads pools breathe
     * @param descriptors connections breathe
     */
    public record Tolerance(
            long heapKib, long nativeKib, long anonymousKib, long threads, long descriptors) {}

    /** From now on this process is measured with the others. */
    public void watch(String name, long pid) {
        pids.put(name, pid);
        series.put(name, new ArrayList<>());
    }

    public void sample() throws IOException {
        for (Map.Entry<String, Long> process : pids.entrySet()) {
            add(process.getKey(), Footprint.of(process.getValue()));
        }
    }

    void add(String name, Footprint footprint) {
        series.computeIfAbsent(name, _ -> new ArrayList<>()).add(footprint);
    }

    /** What grew, with what is behind it; empty when nothing did. */
    public List<String> growth(Tolerance tolerance) {
        List<String> grown = new ArrayList<>();
        series.forEach(
                (name, samples) -> {
                    if (samples.size() < FEWEST) {
                        grown.add("%s: only %d samples".formatted(name, samples.size()));
                        return;
                    }
                    int before = grown.size();
                    judge(grown, name, "heap KiB", Footprint::heapKib, tolerance.heapKib);
                    judge(grown, name, "native KiB", Footprint::nativeKib, tolerance.nativeKib);
                    judge(
                            grown,
                            name,
                            "anonymous KiB",
                            Footprint::anonymousKib,
                            tolerance.anonymousKib);
                    judge(grown, name, "threads", Footprint::threads, tolerance.threads);
                    judge(
                            grown,
                            name,
                            "descriptors",
                            Footprint::descriptors,
                            tolerance.descriptors);
                    if (grown.size() > before) {
                        grown.add(name + " parts KiB: " + parts(samples));
                    }
                });
        return grown;
    }

    private void judge(
            List<String> grown,
            String name,
            String what,
            ToLongFunction<Footprint> value,
            long tolerance) {
        List<Footprint> samples = series.getOrDefault(name, List.of());
        int size = samples.size();
        long early = median(samples.subList(size / 4, size / 2), value);
        long late = median(samples.subList(size - size / 4, size), value);
        if (late > early + tolerance) {
            grown.add(
                    "%s: %s grew from %d to %d, more than %d"
                            .formatted(name, what, early, late, tolerance));
        }
    }

    private static long median(List<Footprint> samples, ToLongFunction<Footprint> value) {
        long[] values = samples.stream().mapToLong(value).sorted().toArray();
        return values[values.length / 2];
    }

    /** The largest differences between the end of the warm-up and the end. */
    private static List<String> parts(List<Footprint> samples) {
        Map<String, Long> early = samples.get(samples.size() / 4).parts();
        Map<String, Long> late = samples.getLast().parts();
        return late.entrySet().stream()
                .map(
                        part ->
                                Map.entry(
                                        part.getKey(),
                                        part.getValue() - early.getOrDefault(part.getKey(), 0L)))
                .filter(part -> part.getValue() > 0)
                .sorted(Comparator.comparingLong(part -> -part.getValue()))
                .limit(PARTS_SHOWN)
                .map(part -> part.getKey() + " +" + part.getValue())
                .toList();
    }

    /** All samples, a process after the other. */
    public String table() {
        StringBuilder text = new StringBuilder();
        series.forEach(
                (name, samples) -> {
                    text.append(
                            "%-12s %6s %9s %9s %9s %7s %11s%n"
                                    .formatted(
                                            name,
                                            "sample",
                                            "heap",
                                            "native",
                                            "anonymous",
                                            "threads",
                                            "descriptors"));
                    for (int i = 0; i < samples.size(); i++) {
                        Footprint at = samples.get(i);
                        text.append(
                                "%-12s %6d %9d %9d %9d %7d %11d%n"
                                        .formatted(
                                                "",
                                                i,
                                                at.heapKib(),
                                                at.nativeKib(),
                                                at.anonymousKib(),
                                                at.threads(),
                                                at.descriptors()));
                    }
                });
        return text.toString();
    }
}
