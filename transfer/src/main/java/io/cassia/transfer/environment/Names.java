package io.cassia.transfer.environment;

import io.cassia.base.config.Spelling;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** Finds names of settings that were mistyped. Immutable. */
final class Names {
    private Names() {}

    /** What is wrong with the first name that no setting has; nothing when all are known. */
    static Optional<String> unknown(Map<String, String> texts) {
        return new TreeSet<>(texts.keySet())
                .stream()
                        .filter(Names::isUnknown)
                        .findFirst()
                        .map(
                                name ->
                                        "setting \"%s\" is unknown; the nearest is \"%s\""
                                                .formatted(name, nearest(name)));
    }

    private static boolean isUnknown(String name) {
        return EngineSettings.ALL.stream().noneMatch(setting -> setting.name().equals(name));
    }

    private static String nearest(String name) {
        return EngineSettings.ALL.stream()
                .map(Setting::name)
                .min(Comparator.comparingInt(known -> Spelling.distance(name, known)))
                .orElseThrow();
    }
}
