package io.cassia.lab.coverage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * The counting itself: runs small test classes and looks at what they leave behind. Belongs to the
 * evidence that it counts.
 */
@Tag(Covers.TAG)
class CoverageTest {
    private static final String NOTHING = "transfer-engine 0/19 store 0/72 llm-datadist 0/18";

    @TempDir Path directory;
    private String printed = "";

    @Test
    void codes_that_were_shown_are_counted_once_per_family() {
        assertThat(run(Props.Proves.class).getTotalFailureCount()).isZero();
        assertThat(printed)
                .isEqualTo("transfer-engine 2/19 store 2/72 llm-datadist 1/18%n".formatted());
    }

    @Test
    void table_shows_every_code_with_its_tests_and_scenarios() throws IOException {
        assertThat(run(Props.Proves.class).getTotalFailureCount()).isZero();
        assertThat(Files.readString(directory.resolve("code-coverage.md")))
                .contains(
                        "| store | -900 | RPC_FAIL | Proves.again | The master is killed. |\n"
                                + "| store | -900 | RPC_FAIL | Proves.failure | The master is"
                                + " stopped. |\n")
                .contains("| llm-datadist | 0xFFFFFFFF | LLM_FAILED | Proves.several | Thrown. |")
                .contains("| store | -901 | RPC_TIMEOUT | **none** | |");
    }

    @Test
    void run_begins_from_zero() {
        assertThat(run(Props.Proves.class).getTotalFailureCount()).isZero();
        assertThat(run(Props.WrongCode.class).getTotalFailureCount()).isOne();
        assertThat(printed.strip()).isEqualTo(NOTHING);
    }

    @Test
    void summary_without_any_run_counts_nothing() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        CoverageSummary.report(directory, new PrintStream(out, true, StandardCharsets.UTF_8));
        assertThat(out.toString(StandardCharsets.UTF_8).strip()).isEqualTo(NOTHING);
    }

    @Test
    void test_that_proves_nothing_fails_and_counts_nothing() {
        for (Class<?> test :
                List.of(
                        Props.WrongCode.class,
                        Props.EmptyDetail.class,
                        Props.SuccessInstead.class,
                        Props.NotShown.class,
                        Props.ShownNothing.class,
                        Props.NotDeclared.class,
                        Props.FailsLater.class,
                        Props.NoScenario.class,
                        Props.NoCode.class,
                        Props.DeclaredTwice.class)) {
            TestExecutionSummary summary = run(test);
            assertThat(summary.getTestsFailedCount()).as(test.getSimpleName()).isOne();
            assertThat(printed.strip()).as(test.getSimpleName()).isEqualTo(NOTHING);
        }
    }

    @Test
    void invocations_of_one_test_cover_its_codes_together() {
        assertThat(run(Props.Each.class).getTotalFailureCount()).isZero();
        assertThat(printed.strip()).isEqualTo("transfer-engine 0/19 store 2/72 llm-datadist 0/18");
        TestExecutionSummary summary = run(Props.NotEach.class);
        assertThat(summary.getTotalFailureCount()).isOne();
        assertThat(summary.getFailures().getFirst().getException())
                .hasMessageContaining("DFS_PARTIAL_WRITE");
    }

    @Test
    void run_without_coverage_tests_leaves_the_count_alone() {
        assertThat(run(Props.Proves.class).getTotalFailureCount()).isZero();
        assertThat(run(Props.Ordinary.class).getTestsSucceededCount()).isOne();
        assertThat(printed).isEmpty();
        assertThat(CoveredCodes.read(directory).line())
                .isEqualTo("transfer-engine 2/19 store 2/72 llm-datadist 1/18");
    }

    @Test
    void props_of_this_test_are_not_taken_for_scenarios() {
        assertThat(DeclaredScenarios.collect().render()).doesNotContain("The master is killed.");
    }

    private TestExecutionSummary run(Class<?> test) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        LauncherFactory.create(
                        LauncherConfig.builder()
                                .enableTestExecutionListenerAutoRegistration(false)
                                .addTestExecutionListeners(
                                        summary,
                                        new CoverageListener(
                                                new PrintStream(out, true, StandardCharsets.UTF_8)))
                                .build())
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(test))
                                .configurationParameter(
                                        CoveredCodes.DIRECTORY, directory.toString())
                                .build());
        printed = out.toString(StandardCharsets.UTF_8);
        return summary.getSummary();
    }
}
