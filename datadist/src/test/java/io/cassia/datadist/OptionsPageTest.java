package io.cassia.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** What the configuration page says about the options is what they are. */
final class OptionsPageTest {
    private static final String HINT =
            "docs/configuration.md differs from the table of options; write it anew with:"
                    + " mvn test -pl datadist -am -Dtest=OptionsPageTest"
                    + " -Dsurefire.failIfNoSpecifiedTests=false -Dcassia.regenerate=true";

    @Test
    void configuration_md_holds_what_the_generator_writes() throws IOException {
        Path file = Path.of(System.getProperty("cassia.root", ".."), "docs", "configuration.md");
        String page = Files.readString(file);
        int from = page.indexOf(OptionsPage.BEGIN) + OptionsPage.BEGIN.length();
        int end = page.indexOf(OptionsPage.END);
        assertThat(end).isGreaterThanOrEqualTo(from);
        if (Boolean.getBoolean("cassia.regenerate")) {
            page = page.substring(0, from) + OptionsPage.markdown() + page.substring(end);
            Files.writeString(file, page);
            end = page.indexOf(OptionsPage.END);
        }
        assertThat(page.substring(from, end)).as(HINT).isEqualTo(OptionsPage.markdown());
    }
}
