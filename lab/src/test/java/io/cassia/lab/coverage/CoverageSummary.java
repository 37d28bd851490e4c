package io.cassia.lab.coverage;

import java.io.PrintStream;
import java.nio.file.Path;

/**
 * The last line of {@code ./check --codes}. Immutable. Needs nothing but the {@code status} module,
 * so that it also speaks when no coverage test has run.
 */
public final class CoverageSummary {
    private CoverageSummary() {}

    /** Prints the line for the directory given, {@code lab/target} as a rule. */
    public static void main(String[] args) {
        if (args.length != 1) {
            throw new IllegalArgumentException("usage: CoverageSummary DIRECTORY");
        }
        report(Path.of(args[0]), System.out);
    }

    static void report(Path directory, PrintStream out) {
        CoveredCodes covered = CoveredCodes.read(directory);
        covered.writeTable(directory);
        out.println(covered.line());
    }
}
