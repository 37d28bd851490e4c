package io.cassia.transfer.environment;

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
                .min(Comparator.comparingInt(known -> distance(name, known)))
                .orElseThrow();
    }

    /** Characters to insert, delete or replace. */
    static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }
}
