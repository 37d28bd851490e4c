package io.cassia.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Every code has every text in both languages, and each says something of its own. */
class CodeTextsTest {
    private static final Pattern HAN = Pattern.compile("\\p{IsHan}");
    private static final Pattern UNFINISHED =
            Pattern.compile("(?i)todo|tbd|fixme|lorem|placeholder|\\?\\?|\\$\\{|\\.\\.\\.|待补|待定");

    private static final String GOOD =
            """
            # head

            = A
            summary: one
            meaning: first
              second
            cause: c1
            cause: c2
              more
            remedy: do
            recoverable: yes | because
            retry: no | because
            effect: depends | on that
            upstream: other
            """;

    @ParameterizedTest
    @EnumSource(Family.class)
    void blocks_are_the_codes_of_the_family_in_order_and_the_unknown(Family family) {
        List<String> names = new ArrayList<>();
        Codes.of(family).forEach(code -> names.add(code.name()));
        names.add(CodeTexts.UNKNOWN);
        for (Language language : Language.values()) {
            assertThat(CodeTexts.load(family, language).names()).containsExactlyElementsOf(names);
        }
    }

    @ParameterizedTest
    @EnumSource(Language.class)
    void no_text_is_unfinished(Language language) {
        for (CodeInfo info : all(language)) {
            assertThat(texts(info))
                    .as(info.code().label())
                    .allSatisfy(text -> assertThat(text).doesNotContainPattern(UNFINISHED));
        }
    }

    @Test
    void english_texts_are_english() {
        for (CodeInfo info : all(Language.EN)) {
            assertThat(texts(info))
                    .as(info.code().label())
                    .allSatisfy(text -> assertThat(text).doesNotContainPattern(HAN));
        }
    }

    @Test
    void chinese_texts_are_chinese() {
        for (CodeInfo info : all(Language.ZH)) {
            assertThat(texts(info))
                    .as(info.code().label())
                    .allSatisfy(text -> assertThat(text).containsPattern(HAN));
        }
    }

    @Test
    void both_languages_give_the_same_answers_and_tell_as_much() {
        List<CodeInfo> zh = all(Language.ZH);
        for (CodeInfo en : all(Language.EN)) {
            CodeInfo other = zh.get(all(Language.EN).indexOf(en));
            assertThat(facts(other)).as(en.code().label()).isEqualTo(facts(en));
        }
    }

    @Test
    void sentences_end_with_a_stop_and_summaries_do_not() {
        for (CodeInfo info : all(Language.EN)) {
            assertThat(info.meaning()).endsWith(".");
            assertThat(info.remedy()).endsWith(".");
            assertThat(info.causes()).allSatisfy(cause -> assertThat(cause).endsWith("."));
            assertThat(info.summary()).doesNotEndWith(".");
        }
        for (CodeInfo info : all(Language.ZH)) {
            assertThat(info.meaning()).endsWith("。");
            assertThat(info.remedy()).endsWith("。");
            assertThat(info.causes()).allSatisfy(cause -> assertThat(cause).endsWith("。"));
            assertThat(info.summary()).doesNotEndWith("。");
        }
    }

    @Test
    void summary_fits_a_line_and_the_rest_says_enough() {
        for (Language language : Language.values()) {
            for (CodeInfo info : all(language)) {
                String label = info.code().label();
                assertThat(Columns.width(info.summary())).as(label).isBetween(10, 60);
                if (!info.code().isOk()) {
                    assertThat(Columns.width(info.meaning())).as(label).isGreaterThan(70);
                    assertThat(Columns.width(info.remedy())).as(label).isGreaterThan(30);
                    assertThat(info.causes().size()).as(label).isBetween(1, 5);
                }
            }
        }
    }

    @Test
    void no_two_codes_share_a_text() {
        List<Function<CodeInfo, String>> fields =
                List.of(CodeInfo::summary, CodeInfo::meaning, CodeInfo::remedy);
        for (Language language : Language.values()) {
            for (Function<CodeInfo, String> field : fields) {
                Map<String, Code> owners = new HashMap<>();
                for (CodeInfo info : CodeInfo.all(language)) {
                    Code family = info.code();
                    if (!family.isOk()) {
                        String text = family.family() + field.apply(info);
                        assertThat(owners.put(text, family)).as(text).isNull();
                    }
                }
            }
        }
    }

    @Test
    void unknown_code_says_so_and_names_its_area() {
        CodeInfo info = CodeInfo.of(new UnknownCode(Family.STORE, -742), Language.EN);
        assertThat(info.summary()).isEqualTo("A number that this release does not know");
        assertThat(info.category()).isEqualTo(Category.STORE_OBJECT);
        assertThat(info.recoverable().verdict()).isEqualTo(Verdict.DEPENDS);
        assertThat(info.scenarios()).isEmpty();
    }

    @Test
    void block_is_read_with_continuations_and_repeated_causes() {
        CodeInfo info = read(GOOD);
        assertThat(info.meaning()).isEqualTo("first second");
        assertThat(info.causes()).containsExactly("c1", "c2 more");
        assertThat(info.retrySafe()).isEqualTo(new Answer(Verdict.NO, "because"));
        assertThat(info.effectPossible()).isEqualTo(new Answer(Verdict.DEPENDS, "on that"));
        assertThat(info.upstream()).contains("other");
        assertThat(read(GOOD.replace("upstream: other\n", "")).upstream()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "'summary: one\n';'';summary is missing",
                "'cause: c1\ncause: c2\n  more\n';'';cause is missing",
                "'summary: one';'summary: ';summary is empty",
                "'summary: one';'sumary: one';not a field: sumary: one",
                "'summary: one';'summary one';not a field: summary one",
                "'summary: one\n';'  lost\n';a continuation without a field",
                "'remedy: do\n';'remedy: do\nremedy: more\n';remedy does not stand in its place",
                "'cause: c1\n';'remedy: x\ncause: c1\n';cause does not stand in its place",
                "'yes | because';'perhaps | because';recoverable wants",
                "'yes | because';'yes';recoverable wants",
                "'= A';'= B';the block is missing"
            })
    void defect_of_a_resource_names_file_and_block(String good, String bad, String message) {
        assertThat(GOOD).contains(good);
        assertThatIllegalStateException()
                .isThrownBy(() -> read(GOOD.replace(good, bad)))
                .withMessageStartingWith("test.txt, block A: ")
                .withMessageContaining(message);
    }

    @Test
    void block_that_stands_twice_is_refused() {
        assertThatIllegalStateException()
                .isThrownBy(() -> read(GOOD + "\n" + GOOD))
                .withMessage("test.txt: A stands there twice");
    }

    private static CodeInfo read(String text) {
        return CodeTexts.parse("test.txt", Language.EN, text)
                .info("A", StoreCode.INTERNAL_ERROR, List.of());
    }

    /** All codes of the contract and one unknown number of each family. */
    private static List<CodeInfo> all(Language language) {
        List<CodeInfo> infos = new ArrayList<>(CodeInfo.all(language));
        for (Family family : Family.values()) {
            infos.add(CodeInfo.of(new UnknownCode(family, -742), language));
        }
        return infos;
    }

    private static List<String> texts(CodeInfo info) {
        List<String> texts =
                new ArrayList<>(List.of(info.summary(), info.meaning(), info.remedy()));
        texts.addAll(info.causes());
        texts.add(info.recoverable().reason());
        texts.add(info.retrySafe().reason());
        texts.add(info.effectPossible().reason());
        info.upstream().ifPresent(texts::add);
        texts.add(info.category().label(info.language()));
        return texts;
    }

    private static List<Object> facts(CodeInfo info) {
        return List.of(
                info.recoverable().verdict(),
                info.retrySafe().verdict(),
                info.effectPossible().verdict(),
                info.causes().size(),
                info.upstream().isPresent());
    }
}
