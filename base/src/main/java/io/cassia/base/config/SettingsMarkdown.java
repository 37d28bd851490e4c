package io.cassia.base.config;

import java.util.stream.Collectors;

/** A table of settings as a part of a page. Immutable. */
public final class SettingsMarkdown {
    private SettingsMarkdown() {}

    /** The settings that do something. */
    public static String effective(SettingTable table) {
        StringBuilder page =
                new StringBuilder(
                        """
                        | setting | also | variable | default | values | meaning |
                        | --- | --- | --- | --- | --- | --- |
                        """);
        for (Setting<?> setting : table.settings()) {
            if (setting.support() instanceof Setting.Support.Full) {
                page.append(
                        "| `%s` | %s | `%s` | %s | %s | %s |\n"
                                .formatted(
                                        setting.name(),
                                        aliases(setting),
                                        setting.variable(),
                                        initial(setting),
                                        cell(setting.type().range()),
                                        cell(setting.meaning())));
            }
        }
        return page.toString();
    }

    /** The settings that are known and do nothing, or must stay as they are. */
    public static String others(SettingTable table) {
        StringBuilder page =
                new StringBuilder(
                        """
                        | setting | default | another value |
                        | --- | --- | --- |
                        """);
        for (Setting<?> setting : table.settings()) {
            String other =
                    switch (setting.support()) {
                        case Setting.Support.Full _ -> "";
                        case Setting.Support.Inert(String why) -> "has no effect: " + why;
                        case Setting.Support.Absent(String why) -> "stops the start: " + why;
                    };
            if (!other.isEmpty()) {
                page.append(
                        "| `%s` | %s | %s |\n"
                                .formatted(setting.name(), initial(setting), cell(other)));
            }
        }
        return page.toString();
    }

    private static String aliases(Setting<?> setting) {
        return setting.aliases().stream()
                .map(alias -> "`" + alias + "`")
                .collect(Collectors.joining(", "));
    }

    private static String initial(Setting<?> setting) {
        return setting.initial().isEmpty() ? "" : "`" + setting.initial() + "`";
    }

    private static String cell(String text) {
        return text.replace("<", "&lt;").replace("|", "\\|");
    }
}
