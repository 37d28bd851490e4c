package io.cassia.app.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/** How much memory this machine could lend to a pool right now. Immutable. */
public final class HostMemory {
    private static final Path MEMINFO = Path.of("/proc/meminfo");
    private static final Path SHARED = Path.of("/dev/shm");
    private static final String AVAILABLE = "MemAvailable:";

    /** Left for the heap, the kernel and everybody else. */
    private static final double USABLE = 0.9;

    private HostMemory() {}

    /**
     * The smaller of free memory (a tenth kept back) and free space in {@code /dev/shm}; empty
     * where the system tells neither.
     */
    public static OptionalLong availableBytes() {
        OptionalLong memory = meminfoAvailable();
        OptionalLong shared = sharedAvailable();
        if (memory.isEmpty()) {
            return shared;
        }
        long usable = (long) (memory.getAsLong() * USABLE);
        return OptionalLong.of(Math.min(usable, shared.orElse(usable)));
    }

    private static OptionalLong meminfoAvailable() {
        try {
            for (String line : Files.readAllLines(MEMINFO)) {
                if (line.startsWith(AVAILABLE)) {
                    String kib = line.substring(AVAILABLE.length()).replace("kB", "").strip();
                    return OptionalLong.of(Long.parseLong(kib) * 1024);
                }
            }
        } catch (IOException | NumberFormatException e) {
            // Another system than Linux: no answer is an answer here.
        }
        return OptionalLong.empty();
    }

    private static OptionalLong sharedAvailable() {
        try {
            return OptionalLong.of(Files.getFileStore(SHARED).getUsableSpace());
        } catch (IOException e) {
            return OptionalLong.empty();
        }
    }
}
