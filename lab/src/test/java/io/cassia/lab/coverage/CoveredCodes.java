package io.cassia.lab.coverage;

import io.cassia.status.Code;
import io.cassia.status.Codes;
import io.cassia.status.Family;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The codes that the tests of a run have proved. Immutable. Lives in {@code covered-codes.tsv}:
 * family, name, test, scenario.
 *
 * @param proofs by code, in the order of the contract: tests with their scenarios
 */
record CoveredCodes(Map<Code, Set<Proof>> proofs) {
    /** Configuration parameter of JUnit: where the files are, {@code lab/target} by default. */
    static final String DIRECTORY = "cassia.coverage.dir";

    private static final String FILE = "covered-codes.tsv";
    private static final String TABLE = "code-coverage.md";

    record Proof(String test, String scenario) implements Comparable<Proof> {
        @Override
        public int compareTo(Proof other) {
            int byTest = test.compareTo(other.test);
            return byTest != 0 ? byTest : scenario.compareTo(other.scenario);
        }
    }

    static Path directory(Optional<String> configured) {
        Path root = Path.of(System.getProperty("cassia.root", ".."));
        return configured.map(Path::of).orElse(root.resolve("lab").resolve("target"));
    }

    static void append(Path directory, String test, Declared declared, Set<Code> shown) {
        StringBuilder lines = new StringBuilder();
        for (Code code : shown) {
            String scenario = declared.scenarios().getOrDefault(code, "");
            lines.append(code.family().label()).append('\t').append(code.name()).append('\t');
            lines.append(test).append('\t').append(scenario).append('\n');
        }
        try {
            Files.createDirectories(directory);
            Files.writeString(
                    directory.resolve(FILE),
                    lines,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void clear(Path directory) {
        try {
            Files.deleteIfExists(directory.resolve(FILE));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What was proved since {@link #clear}; nothing when there is no file. */
    static CoveredCodes read(Path directory) {
        Map<Code, Set<Proof>> proofs = new LinkedHashMap<>();
        Codes.all().forEach(code -> proofs.put(code, new TreeSet<>()));
        Path file = directory.resolve(FILE);
        try {
            List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
            for (String line : lines) {
                String[] cells = line.split("\t", -1);
                Code code = Codes.find(cells[0] + ":" + cells[1]).codes().getFirst();
                proofs.getOrDefault(code, Set.of()).add(new Proof(cells[2], cells[3]));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new CoveredCodes(proofs);
    }

    /** {@code transfer-engine N/19 store N/72 llm-datadist N/18}. */
    String line() {
        StringBuilder line = new StringBuilder();
        for (Family family : Family.values()) {
            List<Code> codes = Codes.of(family);
            long covered =
                    codes.stream()
                            .filter(code -> !proofs.getOrDefault(code, Set.of()).isEmpty())
                            .count();
            line.append(line.isEmpty() ? "" : " ").append(family.label()).append(' ');
            line.append(covered).append('/').append(codes.size());
        }
        return line.toString();
    }

    /** Writes {@code code-coverage.md}: every code with the tests that prove it. */
    void writeTable(Path directory) {
        StringBuilder out = new StringBuilder("# Codes proved by tests\n\n");
        out.append(line()).append("\n\n");
        out.append("| Family | Number | Code | Test | Scenario |\n");
        out.append("| --- | ---: | --- | --- | --- |\n");
        proofs.forEach(
                (code, tests) -> {
                    String head =
                            "| %s | %s | %s | "
                                    .formatted(
                                            code.family().label(),
                                            code.family().format(code.number()),
                                            code.name());
                    if (tests.isEmpty()) {
                        out.append(head).append("**none** | |\n");
                    }
                    for (Proof proof : tests) {
                        out.append(head).append(proof.test).append(" | ");
                        out.append(proof.scenario).append(" |\n");
                    }
                });
        try {
            Files.createDirectories(directory);
            Files.writeString(directory.resolve(TABLE), out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
