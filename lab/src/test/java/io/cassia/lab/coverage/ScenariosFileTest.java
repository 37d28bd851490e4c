package io.cassia.lab.coverage;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.ErrorsPage;
import io.cassia.status.Scenarios;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * {@code docs/error-scenarios.tsv} is a resource of {@code status}, which cannot ask the tests; so
 * it is checked in and compared here.
 */
class ScenariosFileTest {
    private static final String HINT =
            "docs differ from the @Covers of the tests; write them anew with:"
                    + " mvn test -pl lab -am -Dtest=ScenariosFileTest"
                    + " -Dsurefire.failIfNoSpecifiedTests=false -Dcassia.regenerate=true";

    @Test
    void files_in_docs_tell_the_scenarios_that_the_tests_declare() throws IOException {
        Path docs = Path.of(System.getProperty("cassia.root", ".."), "docs");
        Scenarios scenarios = DeclaredScenarios.collect();
        if (Boolean.getBoolean("cassia.regenerate")) {
            Files.writeString(docs.resolve("error-scenarios.tsv"), scenarios.render());
            Files.writeString(docs.resolve("errors.md"), ErrorsPage.of(scenarios).markdown());
        }
        assertThat(Files.readString(docs.resolve("error-scenarios.tsv")))
                .as(HINT)
                .isEqualTo(scenarios.render());
        assertThat(Files.readString(docs.resolve("errors.md")))
                .as(HINT)
                .isEqualTo(ErrorsPage.of(scenarios).markdown());
    }
}
