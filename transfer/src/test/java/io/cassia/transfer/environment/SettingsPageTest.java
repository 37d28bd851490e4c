package io.cassia.transfer.environment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class SettingsPageTest {
    private static final String HINT =
            "docs/configuration.md differs from the table of settings; write it anew with:"
                    + " mvn test -pl transfer -am -Dtest=SettingsPageTest"
                    + " -Dsurefire.failIfNoSpecifiedTests=false -Dcassia.regenerate=true";

    @Test
    void configuration_md_holds_what_the_generator_writes() throws IOException {
        Path file = Path.of(System.getProperty("cassia.root", ".."), "docs", "configuration.md");
        String page = Files.readString(file);
        int begin = page.indexOf(SettingsPage.BEGIN);
        int end = page.indexOf(SettingsPage.END);
        assertThat(begin).isNotNegative();
        assertThat(end).isGreaterThan(begin);
        int from = begin + SettingsPage.BEGIN.length();
        if (Boolean.getBoolean("cassia.regenerate")) {
            page = page.substring(0, from) + SettingsPage.markdown() + page.substring(end);
            Files.writeString(file, page);
            end = page.indexOf(SettingsPage.END);
        }
        assertThat(page.substring(from, end)).as(HINT).isEqualTo(SettingsPage.markdown());
    }
}
