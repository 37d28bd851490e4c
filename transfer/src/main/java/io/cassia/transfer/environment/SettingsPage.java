package io.cassia.transfer.environment;

/**
 * The part of {@code docs/configuration.md} about engines, made of the table of settings.
 * Immutable.
 */
public final class SettingsPage {
    /** Before the part in the page. */
    public static final String BEGIN = "<!-- transfer engine: generated, do not edit -->\n";

    /** Behind it. */
    public static final String END = "<!-- transfer engine: end -->\n";

    private SettingsPage() {}

    /** The part, in Markdown. */
    public static String markdown() {
        StringBuilder page =
                new StringBuilder(
                        """
                        ## Transfer engine

                        A setting is taken from a flag, else from its environment variable, else from the configuration
                        file, else it has its default. A bad value stops the start: `ERR_INVALID_ARGUMENT` names the
                        variable, the value and the range. An empty value counts as none. Variables that begin with `MC_`
                        are Mooncake's; those that any value switches on there take the words of the table here.

                        | setting | variable | default | values | meaning |
                        | --- | --- | --- | --- | --- |
                        """);
        for (Setting<?> setting : EngineSettings.ALL) {
            page.append(
                    "| `%s` | `%s`%s | %s | %s | %s |\n"
                            .formatted(
                                    setting.name(),
                                    setting.variable(),
                                    aliases(setting),
                                    setting.initial().isEmpty()
                                            ? ""
                                            : "`" + setting.initial() + "`",
                                    cell(setting.type().range()),
                                    cell(setting.meaning())));
        }
        return page.toString();
    }

    private static String aliases(Setting<?> setting) {
        return setting.aliases().isEmpty()
                ? ""
                : " (or `" + String.join("`, `", setting.aliases()) + "`)";
    }

    private static String cell(String text) {
        return text.replace("<", "&lt;").replace("|", "\\|");
    }
}
