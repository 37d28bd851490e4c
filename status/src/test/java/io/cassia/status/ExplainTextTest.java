package io.cassia.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ExplainTextTest {
    private static final ExplainText EN = new ExplainText(Language.EN, ExplainText.COLUMNS);
    private static final ExplainText ZH = new ExplainText(Language.ZH, ExplainText.COLUMNS);

    @Test
    void one_code_shows_every_part_in_order() {
        assertThat(EN.explain(StoreCode.CHECKSUM_MISMATCH))
                .startsWith(
                        """
                        CHECKSUM_MISMATCH  -801
                        store, transfer and checksum (-800..-899)

                          The bytes read differ from those written; not handed out

                        What happened
                          Writer and reader\
                        """)
                .containsSubsequence(
                        "\nLikely causes\n  * ",
                        "\nWhat to do\n  ",
                        "\nRecoverable       yes      ",
                        "\nSafe to retry     yes      ",
                        "\nEffect possible   no       ",
                        "\nCompared with upstream\n  ");
    }

    @Test
    void chinese_has_chinese_headings_in_columns() {
        assertThat(ZH.explain(StoreCode.CHECKSUM_MISMATCH))
                .contains("store, 传输与校验和 (-800..-899)\n")
                .containsSubsequence(
                        "\n发生了什么\n  ",
                        "\n可能的原因\n  * ",
                        "\n怎么办\n  ",
                        "\n可恢复            是       ",
                        "\n可安全重试        是       ",
                        "\n可能已生效        否       ",
                        "\n与上游对比\n  ");
    }

    @ParameterizedTest
    @EnumSource(Language.class)
    void no_line_of_any_code_is_wider_than_the_terminal(Language language) {
        for (int columns : new int[] {60, 78}) {
            ExplainText text = new ExplainText(language, columns);
            for (Code code : Codes.all()) {
                assertThat(text.explain(code).lines())
                        .allSatisfy(
                                line ->
                                        assertThat(Columns.width(line))
                                                .isLessThanOrEqualTo(columns));
            }
            assertThat(text.list(List.of(Family.values())).lines())
                    .allSatisfy(
                            line -> assertThat(Columns.width(line)).isLessThanOrEqualTo(columns));
        }
    }

    @Test
    void success_has_no_causes() {
        assertThat(EN.explain(StoreCode.OK)).doesNotContain("Likely causes");
    }

    @Test
    void number_of_several_families_shows_them_all() {
        assertThat(EN.explain("-1", Codes.find("-1")))
                .containsSubsequence(
                        "ERR_INVALID_ARGUMENT  -1",
                        "\n" + "-".repeat(78) + "\n",
                        "INTERNAL_ERROR  -1",
                        "LLM_FAILED  0xFFFFFFFF");
    }

    @Test
    void unknown_number_shows_its_area() {
        assertThat(EN.explain("-742", Codes.find("-742")))
                .startsWith(
                        """
                        not known to this release  -742
                        store, engine-operation and object (-700..-799)
                        """);
    }

    @Test
    void misspelling_is_answered_with_suggestions() {
        assertThat(EN.explain("LEASE_EXPIERD", Codes.find("LEASE_EXPIERD")))
                .startsWith(
                        """
                        No code has the name or number LEASE_EXPIERD
                        Did you mean:
                          -707  LEASE_EXPIRED  The read\
                        """);
        assertThat(EN.explain("xyzzy", Codes.find("xyzzy")))
                .isEqualTo("No code has the name or number xyzzy\n");
    }

    @Test
    void list_has_one_line_per_code_under_its_category() {
        String list = EN.list(List.of(Family.values()));
        assertThat(list.lines().filter(line -> line.startsWith("  "))).hasSize(109);
        assertThat(list)
                .startsWith("transfer-engine: success\n  0  OK  ")
                .contains(
                        "\n\nstore: engine-operation and object (-700..-799)\n  -700  INVALID_WRITE")
                .containsOnlyOnce("llm-datadist: not recoverable\n");
        assertThat(EN.list(List.of(Family.STORE))).doesNotContain("transfer-engine");
    }

    @Test
    void narrow_terminal_is_refused() {
        assertThatIllegalArgumentException().isThrownBy(ExplainTextTest::narrow);
    }

    private static void narrow() {
        assertThat(new ExplainText(Language.EN, 39).columns()).isEqualTo(39);
    }
}
