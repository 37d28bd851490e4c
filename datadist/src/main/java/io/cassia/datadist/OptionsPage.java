package io.cassia.datadist;

/** The part of {@code docs/configuration.md} about LLM-DataDist, made of its table. Immutable. */
public final class OptionsPage {
    /** Before the part in the page. */
    public static final String BEGIN = "<!-- llm-datadist: generated, do not edit -->\n";

    /** Behind it. */
    public static final String END = "<!-- llm-datadist: end -->\n";

    private OptionsPage() {}

    /** The part, in Markdown. */
    public static String markdown() {
        StringBuilder page =
                new StringBuilder(
                        """
                        ## LLM-DataDist

                        Options are strings by key, as C++ and Python callers give them, or set on `DataDistOptions.builder()`. A bad
                        value is `LLM_PARAM_INVALID` and names its key; an unknown key is a warning. "No effect" marks what is known
                        and checked, and belongs to devices or modes that are not here.

                        | key | default | meaning |
                        | --- | --- | --- |
                        """);
        for (OptionHelp option : OptionKeys.help()) {
            page.append(
                    "| `%s` | %s | %s%s |\n"
                            .formatted(
                                    option.key(),
                                    option.standard(),
                                    option.meaning(),
                                    option.effective() ? "" : " (no effect)"));
        }
        return page.toString();
    }
}
