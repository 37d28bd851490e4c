package io.cassia.lab.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page of evidence names tests that exist. */
class TestingPageTest {
    private static final Path ROOT = Path.of(System.getProperty("cassia.root", ".."));
    private static final Pattern NAME = Pattern.compile("`(\\w+Test)\\.(\\w+)`");

    @Test
    void each_test_that_is_named_exists() throws IOException {
        Map<String, String> sources = sources();
        String page = Files.readString(ROOT.resolve("docs/testing.md"));
        List<String> missing = new ArrayList<>();
        int named = 0;
        Matcher names = NAME.matcher(page);
        while (names.find()) {
            named++;
            String source = sources.getOrDefault(names.group(1) + ".java", "");
            if (!source.contains("void " + names.group(2) + "(")) {
                missing.add(names.group());
            }
        }
        assertThat(missing).isEmpty();
        assertThat(named).isGreaterThan(40);
        for (int row = 1; row <= 17; row++) {
            assertThat(page).contains("\n| %d | ".formatted(row));
        }
    }

    private static Map<String, String> sources() throws IOException {
        Map<String, String> sources = new HashMap<>();
        for (String module : List.of("transfer", "lab")) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/test/java"))) {
                for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
                    sources.merge(
                            file.getFileName().toString(),
                            Files.readString(file),
                            String::concat);
                }
            }
        }
        return sources;
    }
}
