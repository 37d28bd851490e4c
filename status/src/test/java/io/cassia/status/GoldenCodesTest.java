package io.cassia.status;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Names and numbers are the product's promise: they never change. */
class GoldenCodesTest {
    @Test
    void names_numbers_and_categories_are_those_of_the_golden_file() throws IOException {
        assertThat(ours()).isEqualTo(lines(golden()));
    }

    @Test
    void names_numbers_and_categories_are_those_of_the_contract() throws IOException {
        Path contract = Path.of(System.getProperty("cassia.shared", ""), "spec", "codes.tsv");
        assumeTrue(Files.exists(contract), () -> contract + " is not here");
        List<String> theirs = new ArrayList<>();
        for (String line : lines(Files.readString(contract))) {
            List<String> cells = List.of(line.split("\t", -1));
            String category = cells.get(3).replaceFirst(" \\(.*", "");
            theirs.add(
                    String.join("\t", cells.subList(0, 3))
                            + "\t"
                            + (category.equals("-") ? "success" : category));
        }
        assertThat(ours()).isEqualTo(theirs);
    }

    @Test
    void families_have_19_72_and_18_codes() {
        assertThat(Codes.of(Family.TRANSFER_ENGINE)).hasSize(19);
        assertThat(Codes.of(Family.STORE)).hasSize(72);
        assertThat(Codes.of(Family.LLM_DATADIST)).hasSize(18);
        assertThat(Codes.all()).hasSize(109);
    }

    private static List<String> ours() {
        return Codes.all().stream()
                .map(
                        code ->
                                String.join(
                                        "\t",
                                        code.family().label(),
                                        code.name(),
                                        code.family().format(code.number()),
                                        Category.of(code).label(Language.EN)))
                .toList();
    }

    private static List<String> lines(String text) {
        return text.lines().filter(line -> !line.startsWith("#")).toList();
    }

    private static String golden() throws IOException {
        String file = "/golden/codes.tsv";
        try (InputStream in = requireNonNull(GoldenCodesTest.class.getResourceAsStream(file))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
