package io.cassia.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ErrorsPageTest {
    private static final String HINT =
            "docs/errors.md differs from the texts; write it anew with:"
                    + " mvn test -pl status -Dtest=ErrorsPageTest -Dcassia.regenerate=true";

    @Test
    void errors_md_is_what_the_generator_writes() throws IOException {
        Path file = Path.of(System.getProperty("cassia.root", ".."), "docs", "errors.md");
        String page = ErrorsPage.of(Scenarios.load()).markdown();
        if (Boolean.getBoolean("cassia.regenerate")) {
            Files.writeString(file, page);
        }
        assertThat(file).exists();
        assertThat(Files.readString(file)).as(HINT).isEqualTo(page);
    }

    @Test
    void page_has_a_row_and_an_entry_for_every_code() {
        String page = ErrorsPage.of(Scenarios.NONE).markdown();
        for (Code code : Codes.all()) {
            String name = code.name();
            String number = code.family().format(code.number());
            String anchor =
                    code.family().label() + "-" + name.toLowerCase(Locale.ROOT).replace('_', '-');
            assertThat(page)
                    .contains("| `" + number + "` | [" + name + "](#" + anchor + ") |")
                    .containsOnlyOnce("<a id=\"" + anchor + "\"></a>\n### " + name)
                    .contains(CodeInfo.of(code, Language.ZH).summary());
        }
    }

    @Test
    void every_table_row_has_six_cells() {
        assertThat(ErrorsPage.of(Scenarios.NONE).markdown().lines())
                .filteredOn(line -> line.startsWith("|"))
                .hasSize(109 + 3 * 2)
                .allSatisfy(line -> assertThat(line.split(" \\| ", -1)).hasSize(6));
    }

    @Test
    void scenarios_and_further_paragraphs_are_added_to_their_code() {
        Scenarios scenarios = new Scenarios(Map.of(StoreCode.OK, List.of("Put a value.")));
        String page =
                ErrorsPage.of(scenarios)
                        .with(
                                new ErrorsPage.Extra(
                                        "Seen by a Mooncake client",
                                        code ->
                                                code == StoreCode.OK
                                                        ? List.of("The same.")
                                                        : List.of()))
                        .markdown();
        assertThat(page)
                .containsOnlyOnce(
                        """

                        **How a test gets it:**

                        * Put a value.

                        **Seen by a Mooncake client:**

                        * The same.

                        <a id="store-internal-error"></a>
                        """);
    }
}
