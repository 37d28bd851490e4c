package io.cassia.app.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class MasterPageTest {
    private static final String HINT =
            "docs/configuration.md differs from the table of settings; write it anew with:"
                    + " mvn test -pl app -am -Dtest=MasterPageTest"
                    + " -Dsurefire.failIfNoSpecifiedTests=false -Dcassia.regenerate=true";

    @Test
    void configuration_md_holds_what_the_generator_writes() throws IOException {
        Path file = Path.of(System.getProperty("cassia.root", ".."), "docs", "configuration.md");
        String page = Files.readString(file);
        int begin = page.indexOf(MasterPage.BEGIN);
        int end = page.indexOf(MasterPage.END);
        assertThat(begin).isNotNegative();
        assertThat(end).isGreaterThan(begin);
        int from = begin + MasterPage.BEGIN.length();
        if (Boolean.getBoolean("cassia.regenerate")) {
            page = page.substring(0, from) + MasterPage.markdown() + page.substring(end);
            Files.writeString(file, page);
            end = page.indexOf(MasterPage.END);
        }
        assertThat(page.substring(from, end)).as(HINT).isEqualTo(MasterPage.markdown());
    }
}
