package io.cassia.lab.process;

import static java.util.Objects.requireNonNull;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a JVM process holds at one moment, after a full collection. Immutable.
 *
 * @param heapKib bytes of live objects, in KiB
 * @param nativeKib what the JVM has committed beside its heap, by its own book (native memory
 *     tracking): threads, code, classes, buffers, arenas
 * @param anonymousKib private memory that the kernel has given: the whole heap, which is touched
 *     from the start, and all native memory, whoever asked for it; segments in shared memory are
 *     not in it
 * @param threads of the process
 * @param descriptors open ones
 * @param parts KiB by class, and by kind of native memory
 */
public record Footprint(
        long heapKib,
        long nativeKib,
        long anonymousKib,
        long threads,
        long descriptors,
        Map<String, Long> parts) {
    /** Java options of processes that are to be measured. */
    public static final String JAVA_OPTIONS =
            "-XX:NativeMemoryTracking=summary -Xms64m -Xmx64m -XX:+AlwaysPreTouch";

    private static final Pattern CLASS =
            Pattern.compile("\\s*\\d+:\\s+(\\d+)\\s+(\\d+)\\s+(\\S.*)");
    private static final Pattern LIVE = Pattern.compile("Total\\s+\\d+\\s+(\\d+)");
    private static final Pattern COMMITTED =
            Pattern.compile("Total: reserved=\\d+KB, committed=(\\d+)KB");
    private static final Pattern KIND =
            Pattern.compile("-\\s+(\\S.*) \\(reserved=\\d+KB, committed=(\\d+)KB\\)");
    private static final String HEAP = "Java Heap";

    /** Of a process that was started with {@link #JAVA_OPTIONS} and is not stopped. */
    public static Footprint of(long pid) throws IOException {
        Path process = Path.of("/proc", Long.toString(pid));
        Map<String, Long> parts = new TreeMap<>();
        long live = -1;
        long committed = -1;
        // A full collection goes before the table of classes.
        String told = ask(pid, "GC.class_histogram\nVM.native_memory summary scale=KB");
        for (String line : told.lines().toList()) {
            Matcher type = CLASS.matcher(line);
            Matcher kind = KIND.matcher(line);
            Matcher liveTotal = LIVE.matcher(line);
            Matcher committedTotal = COMMITTED.matcher(line);
            if (type.matches()) {
                parts.merge(type.group(3), Long.parseLong(type.group(2)) / 1024, Long::sum);
            } else if (kind.matches()) {
                parts.put("native " + kind.group(1), Long.parseLong(kind.group(2)));
            } else if (liveTotal.matches()) {
                live = Long.parseLong(liveTotal.group(1)) / 1024;
            } else if (committedTotal.matches()) {
                committed = Long.parseLong(committedTotal.group(1));
            }
        }
        Long heap = parts.remove("native " + HEAP);
        if (live < 0 || committed < 0 || heap == null) {
            throw new IOException("process " + pid + " says nothing about its memory");
        }
        Map<String, Long> status = status(process);
        return new Footprint(
                live,
                committed - heap,
                requireNonNull(status.get("RssAnon")),
                requireNonNull(status.get("Threads")),
                count(process.resolve("fd")),
                parts);
    }

    /** What a process answers to a diagnostic command, by the JDK's own tool. */
    public static String ask(long pid, String command) throws IOException {
        Process jcmd =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                                "-J-XX:TieredStopAtLevel=1",
                                "-J-XX:+UseSerialGC",
                                Long.toString(pid),
                                command)
                        .redirectErrorStream(true)
                        .start();
        jcmd.getOutputStream().close();
        try (BufferedReader output = jcmd.inputReader()) {
            return output.lines().collect(Collectors.joining("\n"));
        }
    }

    private static Map<String, Long> status(Path process) throws IOException {
        Map<String, Long> values = new TreeMap<>();
        for (String line : Files.readAllLines(process.resolve("status"))) {
            String[] word = line.split("[:\\s]+", -1);
            if (word[0].equals("RssAnon") || word[0].equals("Threads")) {
                values.put(word[0], Long.parseLong(word[1]));
            }
        }
        return values;
    }

    private static long count(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.count();
        }
    }
}
