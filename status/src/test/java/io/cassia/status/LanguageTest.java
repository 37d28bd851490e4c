package io.cassia.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import org.junit.jupiter.api.Test;

class LanguageTest {
    @Test
    void chinese_locales_get_chinese_and_all_others_english() {
        assertThat(Language.of(Locale.SIMPLIFIED_CHINESE)).isEqualTo(Language.ZH);
        assertThat(Language.of(Locale.forLanguageTag("zh-Hant-TW"))).isEqualTo(Language.ZH);
        assertThat(Language.of(Locale.GERMANY)).isEqualTo(Language.EN);
        assertThat(Language.of(Locale.ROOT)).isEqualTo(Language.EN);
    }
}
