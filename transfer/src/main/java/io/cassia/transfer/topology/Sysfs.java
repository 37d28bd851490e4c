package io.cassia.transfer.topology;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the small text files and directories of a sysfs tree. Immutable. */
final class Sysfs {
    private static final int MAX_BYTES = 1 << 16;
    private static final int MAX_ENTRIES = 4096;
    private static final Pattern NUMBERED = Pattern.compile("(.*?)(\\d{1,9})");

    /** {@code mlx5_2} before {@code mlx5_10}. */
    static final Comparator<String> NATURAL =
            Comparator.comparing(Sysfs::stem)
                    .thenComparingInt(Sysfs::number)
                    .thenComparing(Comparator.naturalOrder());

    private Sysfs() {}

    private static String stem(String name) {
        Matcher matcher = NUMBERED.matcher(name);
        return matcher.matches() ? matcher.group(1) : name;
    }

    private static int number(String name) {
        Matcher matcher = NUMBERED.matcher(name);
        return matcher.matches() ? Integer.parseInt(matcher.group(2)) : -1;
    }

    /**
     * A file's text without surrounding space. Absent when there is no such file, and when the
     * driver refuses to answer: a link that is down fails to tell its speed.
     */
    static Optional<String> text(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return Optional.of(
                    new String(in.readNBytes(MAX_BYTES), StandardCharsets.UTF_8).strip());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** A file's decimal number, negative ones too. */
    static OptionalLong number(Path file) {
        return text(file).map(Sysfs::decimal).orElse(OptionalLong.empty());
    }

    private static OptionalLong decimal(String text) {
        try {
            return OptionalLong.of(Long.parseLong(text));
        } catch (NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    /** The {@code numa_node} of a device's directory; -1 there means none. */
    static OptionalInt numaNode(Path device) {
        OptionalLong node = number(device.resolve("numa_node"));
        return node.isPresent() && node.getAsLong() >= 0 && node.getAsLong() < 1 << 16
                ? OptionalInt.of((int) node.getAsLong())
                : OptionalInt.empty();
    }

    /** Names in a directory in natural order; none when there is no such directory. */
    static List<String> names(Path directory) {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                if (names.size() == MAX_ENTRIES) {
                    break;
                }
                names.add(entry.getFileName().toString());
            }
        } catch (IOException e) {
            return List.of();
        }
        names.sort(NATURAL);
        return names;
    }
}
