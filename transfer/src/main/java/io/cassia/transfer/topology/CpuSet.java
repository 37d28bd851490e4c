package io.cassia.transfer.topology;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Numbers of CPUs, ascending and unique. Immutable.
 *
 * @param ids the numbers, 0 to {@link #MAX_ID}
 */
public record CpuSet(List<Integer> ids) {
    /** Far above what the kernel can be built for. */
    public static final int MAX_ID = 65_535;

    public static final CpuSet EMPTY = new CpuSet(List.of());

    public CpuSet {
        ids = List.copyOf(new TreeSet<>(ids));
        if (!ids.isEmpty() && (ids.getFirst() < 0 || ids.getLast() > MAX_ID)) {
            throw new IllegalArgumentException("CPU numbers " + ids);
        }
    }

    /** Reads the kernel's list form ({@code 0-3,8}); nothing when the text is none. */
    static Optional<CpuSet> parse(String list) {
        List<Integer> ids = new ArrayList<>();
        for (String range : list.strip().split(",", -1)) {
            if (range.isEmpty() && list.isBlank()) {
                continue;
            }
            int dash = range.indexOf('-');
            int first = number(dash < 0 ? range : range.substring(0, dash));
            int last = dash < 0 ? first : number(range.substring(dash + 1));
            if (first < 0 || last < first) {
                return Optional.empty();
            }
            for (int id = first; id <= last; id++) {
                ids.add(id);
            }
        }
        return Optional.of(new CpuSet(ids));
    }

    private static int number(String text) {
        try {
            int value = Integer.parseInt(text);
            return value <= MAX_ID ? value : -1;
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /** The kernel's list form. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        int i = 0;
        while (i < ids.size()) {
            int end = i;
            while (end + 1 < ids.size() && ids.get(end + 1) == ids.get(end) + 1) {
                end++;
            }
            text.append(text.isEmpty() ? "" : ",").append(ids.get(i));
            if (end > i) {
                text.append('-').append(ids.get(end));
            }
            i = end + 1;
        }
        return text.toString();
    }
}
