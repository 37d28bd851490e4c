package io.cassia.status;

import java.util.Locale;

/** The language of a text for people. Immutable. */
public enum Language {
    EN("en"),
    ZH("zh");

    private final String tag;

    Language(String tag) {
        this.tag = tag;
    }

    /** {@code en} or {@code zh}: as on the command line, in JSON and in file names. */
    public String tag() {
        return tag;
    }

    /** Chinese for every Chinese locale, otherwise English. */
    public static Language of(Locale locale) {
        return locale.getLanguage().equals("zh") ? ZH : EN;
    }

    /** One of two texts. */
    String choose(String en, String zh) {
        return this == ZH ? zh : en;
    }
}
