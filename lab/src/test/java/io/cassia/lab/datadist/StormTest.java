package io.cassia.lab.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.testkit.Seeds;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every transfer is complete and right, or a documented code; nothing stays behind. */
class StormTest {
    @Test
    void clusters_break_die_and_switch_and_no_byte_is_wrong() {
        Seeds.forEach(1, seed -> storm(seed, Duration.ofSeconds(12)));
    }

    @Test
    @Tag("deep")
    void the_same_for_a_minute() {
        Seeds.forEach(3, seed -> storm(seed, Duration.ofSeconds(60)));
    }

    private static void storm(long seed, Duration duration) {
        // What is opened once and for all is open then.
        run(seed, Duration.ofSeconds(1));
        Set<String> threads = threads();
        long files = openFiles();
        Storm storm = run(seed, duration);
        System.out.println("storm seed=" + seed + " " + storm.outcomes());
        assertThat(storm.count("pull SUCCESS")).isPositive();
        assertThat(storm.count("push SUCCESS")).isPositive();
        assertThat(storm.count("verified")).isPositive();
        assertThat(storm.count("killed")).isPositive();
        assertThat(storm.count("role SUCCESS")).isPositive();
        assertThat(Patience.until(() -> threads.containsAll(threads())))
                .as("threads that stayed: %s beside %s", threads(), threads)
                .isTrue();
        assertThat(Patience.until(() -> openFiles() <= files))
                .as("%d open files, %d before", openFiles(), files)
                .isTrue();
    }

    private static Storm run(long seed, Duration duration) {
        try (Storm storm = new Storm(seed)) {
            storm.run(duration);
            storm.settle();
            return storm;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Names of threads that belong to clusters or engines; the JVM's own come and go. */
    private static Set<String> threads() {
        Set<String> names = new TreeSet<>();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            String name = thread.getName();
            if (name.startsWith("datadist") || name.startsWith("cassia")) {
                names.add(name);
            }
        }
        return names;
    }

    private static long openFiles() {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.filter(StormTest::isOurs).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sockets, shared memory, pipes to processes: not the jars that classes come from. */
    private static boolean isOurs(Path file) {
        try {
            String target = Files.readSymbolicLink(file).toString();
            return !target.endsWith(".jar")
                    && !target.endsWith(File.separator + "fd")
                    && !target.contains("surefire");
        } catch (IOException e) {
            return false;
        }
    }
}
