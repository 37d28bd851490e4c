package io.cassia.lab.coverage;

import java.io.PrintStream;
import java.nio.file.Path;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Begins and ends the count of a run that has coverage tests. Immutable. JUnit finds it through
 * {@code META-INF/services}.
 */
public final class CoverageListener implements TestExecutionListener {
    private final PrintStream out;

    /** For JUnit. */
    public CoverageListener() {
        this(System.out);
    }

    CoverageListener(PrintStream out) {
        this.out = out;
    }

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        if (hasCoverageTests(plan)) {
            CoveredCodes.clear(directory(plan));
        }
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        if (hasCoverageTests(plan)) {
            CoverageSummary.report(directory(plan), out);
        }
    }

    private static Path directory(TestPlan plan) {
        return CoveredCodes.directory(
                plan.getConfigurationParameters().get(CoveredCodes.DIRECTORY));
    }

    private static boolean hasCoverageTests(TestPlan plan) {
        return plan.getRoots().stream()
                .flatMap(root -> plan.getDescendants(root).stream())
                .anyMatch(CoverageListener::covers);
    }

    private static boolean covers(TestIdentifier test) {
        return test.getTags().stream().anyMatch(tag -> tag.getName().equals(Covers.TAG));
    }
}
