package io.cassia.status;

/** The answer to a question of the kind "may I retry?". Immutable. */
public enum Verdict {
    YES("yes", "是"),
    NO("no", "否"),
    DEPENDS("depends", "视情况");

    private final String en;
    private final String zh;

    Verdict(String en, String zh) {
        this.en = en;
        this.zh = zh;
    }

    /** For people; the English label is also the word in JSON and in the resources. */
    public String label(Language language) {
        return language.choose(en, zh);
    }
}
