package io.cassia.status;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * For each code, what the tests do to make the real system return it. Immutable. Written by the
 * error-coverage tests into {@code docs/error-scenarios.tsv}, which is a resource of this module.
 *
 * @param byCode one sentence per covering test
 */
public record Scenarios(Map<Code, List<String>> byCode) {
    public static final Scenarios NONE = new Scenarios(Map.of());

    private static final String FILE = "error-scenarios.tsv";
    private static final String HEAD =
            "# Generated: for each code, what a test does to make the real system return it."
                    + " family\tname\tscenario\n";

    public Scenarios {
        Map<Code, List<String>> sorted = new LinkedHashMap<>();
        for (Code code : Codes.all()) {
            List<String> texts = byCode.getOrDefault(code, List.of());
            if (!texts.isEmpty()) {
                sorted.put(code, texts.stream().sorted().distinct().toList());
            }
        }
        byCode = Collections.unmodifiableMap(sorted);
    }

    /** Read on first use. */
    private static final class Resource {
        static final Scenarios SCENARIOS = parse(CodeTexts.read(FILE));
    }

    /** The scenarios of this release. */
    public static Scenarios load() {
        return Resource.SCENARIOS;
    }

    /** In a stable order; empty when no test covers the code. */
    public List<String> of(Code code) {
        return byCode.getOrDefault(code, List.of());
    }

    /** The contents of the file. */
    public String render() {
        StringBuilder out = new StringBuilder(HEAD);
        byCode.forEach(
                (code, texts) -> {
                    for (String text : texts) {
                        out.append(code.family().label())
                                .append('\t')
                                .append(code.name())
                                .append('\t')
                                .append(text)
                                .append('\n');
                    }
                });
        return out.toString();
    }

    /** The reverse of {@link #render}; a line that names no code is a defect of the file. */
    public static Scenarios parse(String text) {
        Map<Code, List<String>> byCode = new LinkedHashMap<>();
        for (String line : text.split("\n", -1)) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            String[] cells = line.split("\t", -1);
            List<Code> codes =
                    cells.length == 3 && !cells[2].isBlank()
                            ? Codes.find(cells[0] + ":" + cells[1]).codes()
                            : List.of();
            if (codes.size() != 1) {
                throw new IllegalStateException(FILE + ": not a scenario: " + line);
            }
            byCode.computeIfAbsent(codes.getFirst(), c -> new ArrayList<>()).add(cells[2]);
        }
        return new Scenarios(byCode);
    }
}
