package io.cassia.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ColumnsTest {
    @Test
    void chinese_counts_two_columns() {
        assertThat(Columns.width("abc")).isEqualTo(3);
        assertThat(Columns.width("租约 ok，")).isEqualTo(9);
        assertThat(Columns.width("𠀀")).isEqualTo(2);
    }

    @Test
    void english_breaks_between_words() {
        assertThat(Columns.wrap("one two three", 7, "", "")).containsExactly("one two", "three");
        assertThat(Columns.wrap("one two three", 9, "* ", "  "))
                .containsExactly("* one two", "  three");
    }

    @Test
    void word_wider_than_the_line_is_not_cut() {
        assertThat(Columns.wrap("a verylongword b", 6, "", ""))
                .containsExactly("a", "verylongword", "b");
    }

    @Test
    void chinese_breaks_between_characters_but_punctuation_stays() {
        assertThat(Columns.wrap("租约已过期，再读", 10, "", "")).containsExactly("租约已过", "期，再读");
        assertThat(Columns.wrap("读取（重试）吧", 6, "", "")).containsExactly("读取", "（重", "试）吧");
    }

    @Test
    void blank_between_chinese_and_latin_is_kept_inside_a_line() {
        assertThat(Columns.wrap("返回 OK 时", 20, "", "")).containsExactly("返回 OK 时");
        assertThat(Columns.wrap("返回 OK 时", 7, "", "")).containsExactly("返回 OK", "时");
    }

    @Test
    void no_line_is_wider_than_asked_for() {
        for (Language language : Language.values()) {
            for (CodeInfo info : CodeInfo.all(language)) {
                for (int columns : List.of(40, 61, 78, 100)) {
                    assertThat(Columns.wrap(info.meaning(), columns, "  ", "  "))
                            .allSatisfy(
                                    line ->
                                            assertThat(Columns.width(line))
                                                    .isLessThanOrEqualTo(columns));
                }
            }
        }
    }

    @Test
    void joined_lines_get_a_blank_only_where_the_script_has_one() {
        assertThat(Columns.join("one", "two")).isEqualTo("one two");
        assertThat(Columns.join("租", "约")).isEqualTo("租约");
        assertThat(Columns.join("返回", "OK")).isEqualTo("返回 OK");
        assertThat(Columns.join("OK", "返回")).isEqualTo("OK 返回");
        assertThat(Columns.join("失败，", "OK")).isEqualTo("失败，OK");
    }

    @Test
    void cut_text_ends_with_an_ellipsis_within_the_width() {
        assertThat(Columns.cut("abcdef", 6)).isEqualTo("abcdef");
        assertThat(Columns.cut("abcdefg", 6)).isEqualTo("abcde…");
        assertThat(Columns.cut("租约已过期", 6)).isEqualTo("租约…");
    }
}
