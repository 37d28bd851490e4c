package io.cassia.status;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Finds codes by what people have in hand: a number in any notation, a name, a log label. */
public final class Codes {
    private static final int MOST_SUGGESTIONS = 5;
    private static final long UNSIGNED_LIMIT = 1L << 32;

    private Codes() {}

    /** Every code of the contract, family by family, in its order. */
    public static List<Code> all() {
        return CodeIndex.codes();
    }

    /** Every code of one family, in the order of the contract. */
    public static List<Code> of(Family family) {
        List<Code> codes = new ArrayList<>();
        for (Code code : all()) {
            if (code.family() == family) {
                codes.add(code);
            }
        }
        return List.copyOf(codes);
    }

    /**
     * Finds by number or by name. Numbers: decimal, also as an unsigned 32-bit value ({@code
     * 1343270913}), or hexadecimal ({@code 0x5010b001}). Names: in any case, with {@code -} for
     * {@code _}. Both with or without a family ({@code store:-1}, {@code store:lease_expired}), and
     * names without the family's customary prefix ({@code dns} for {@code ERR_DNS}); a log label
     * ({@code LEASE_EXPIRED(-707)}) works too.
     */
    public static CodeMatch find(String query) {
        String text = query.strip();
        int cut = Math.max(text.lastIndexOf(':'), text.lastIndexOf('/'));
        Optional<Family> family = Family.find(text.substring(0, Math.max(0, cut)));
        Optional<Long> number = number(family.isEmpty() ? text : text.substring(cut + 1).strip());
        if (number.isPresent()) {
            return byNumber(number.get(), family);
        }
        int end = text.indexOf('(');
        Wanted wanted = Wanted.of(end > 0 ? text.substring(0, end) : text);
        List<Code> codes = new ArrayList<>();
        for (Code code : all()) {
            if (wanted.isFrom(code.family()) && wanted.names(code)) {
                codes.add(code);
            }
        }
        return codes.isEmpty()
                ? new CodeMatch(List.of(), nearest(wanted))
                : new CodeMatch(codes, List.of());
    }

    /** A name as asked for, with the family when one was given. */
    private record Wanted(Optional<Family> family, String name) {
        static Wanted of(String text) {
            int cut = Math.max(text.lastIndexOf(':'), text.lastIndexOf('/'));
            String name = text.substring(cut + 1).strip().toUpperCase(Locale.ROOT);
            String prefix = cut < 0 ? "" : text.substring(0, cut);
            return new Wanted(Family.find(prefix), name.replace('-', '_').replace(' ', '_'));
        }

        boolean isFrom(Family candidate) {
            return family.isEmpty() || family.get() == candidate;
        }

        boolean names(Code code) {
            return code.name().equals(name)
                    || bare(code).equals(name)
                    || (code == LlmStatus.LLM_WAIT_PROC_TIMEOUT && isItsOtherName());
        }

        /** LLM-DataDist's Python package spells this one out. */
        private boolean isItsOtherName() {
            return name.equals("LLM_WAIT_PROCESS_TIMEOUT") || name.equals("WAIT_PROCESS_TIMEOUT");
        }
    }

    /** The name without {@code ERR_} or {@code LLM_}. */
    private static String bare(Code code) {
        String name = code.name();
        return name.startsWith("ERR_") || name.startsWith("LLM_") ? name.substring(4) : name;
    }

    private static Optional<Long> number(String text) {
        try {
            String digits = text.toLowerCase(Locale.ROOT);
            long value;
            if (digits.startsWith("0x")) {
                value = Long.parseLong(digits.substring(2), 16);
            } else if (digits.length() == 8 && digits.startsWith("5010b")) {
                value = Long.parseLong(digits, 16);
            } else {
                value = Long.parseLong(digits);
            }
            boolean fits = value >= Integer.MIN_VALUE && value < UNSIGNED_LIMIT;
            return fits ? Optional.of(value) : Optional.empty();
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static CodeMatch byNumber(long value, Optional<Family> wanted) {
        int number = (int) value;
        List<Code> known = new ArrayList<>();
        List<Code> unknown = new ArrayList<>();
        List<Code> negated = new ArrayList<>();
        for (Family family : wanted.map(List::of).orElse(List.of(Family.values()))) {
            Code code = CodeIndex.find(family, number);
            if (!(code instanceof UnknownCode)) {
                known.add(code);
            } else if (!Category.of(code).isOutside()) {
                unknown.add(code);
            }
            Code other = CodeIndex.find(family, -number);
            if (!(other instanceof UnknownCode)) {
                negated.add(other);
            }
        }
        if (known.isEmpty() && unknown.isEmpty()) {
            return new CodeMatch(List.of(), negated);
        }
        return new CodeMatch(known.isEmpty() ? unknown : known, List.of());
    }

    private static List<Code> nearest(Wanted wanted) {
        if (wanted.name.isEmpty()) {
            return List.of();
        }
        record Near(Code code, int distance) {}
        int length = wanted.name.length();
        int limit = length < 4 ? 1 : Math.max(2, length / 4);
        List<Near> near = new ArrayList<>();
        Set<Code> containing = new LinkedHashSet<>();
        for (Code code : all()) {
            if (!wanted.isFrom(code.family())) {
                continue;
            }
            int distance =
                    Math.min(distance(wanted.name, code.name()), distance(wanted.name, bare(code)));
            if (distance <= limit) {
                near.add(new Near(code, distance));
            } else if (wanted.name.length() >= 3 && containsWords(code.name(), wanted.name)) {
                containing.add(code);
            }
        }
        near.sort(Comparator.comparingInt(Near::distance));
        Set<Code> all = new LinkedHashSet<>(near.stream().map(Near::code).toList());
        all.addAll(containing);
        return all.stream().limit(MOST_SUGGESTIONS).toList();
    }

    private static boolean containsWords(String name, String words) {
        for (String word : words.split("_", -1)) {
            if (!name.contains(word)) {
                return false;
            }
        }
        return true;
    }

    /** Edits from one to the other: insert, delete, replace, swap two neighbours. */
    private static int distance(String a, String b) {
        int[][] d = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                d[i][j] = i == 0 || j == 0 ? i + j : step(d, a, b, i, j);
            }
        }
        return d[a.length()][b.length()];
    }

    private static int step(int[][] d, String a, String b, int i, int j) {
        int same = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        int best = Math.min(d[i - 1][j - 1] + same, Math.min(d[i - 1][j], d[i][j - 1]) + 1);
        boolean swapped =
                i > 1
                        && j > 1
                        && a.charAt(i - 1) == b.charAt(j - 2)
                        && a.charAt(i - 2) == b.charAt(j - 1);
        return swapped ? Math.min(best, d[i - 2][j - 2] + 1) : best;
    }
}
