package io.cassia.transfer.transport.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A process that cannot be mistaken for a later one with the same number. Immutable.
 *
 * @param pid its number in the namespace of this process
 * @param startTicks when it started, in clock ticks since the host's boot
 */
record ProcessId(long pid, long startTicks) {
    private static final Path SELF = Path.of("/proc/self");
    private static final int START_BITS = 42;
    private static final int START_FIELD = 19;

    ProcessId {
        if (pid <= 0 || pid >= 1L << (Long.SIZE - START_BITS)) {
            throw new IllegalArgumentException("process number " + pid);
        }
        if (startTicks < 0 || startTicks >= 1L << START_BITS) {
            throw new IllegalArgumentException("start of a process at " + startTicks);
        }
    }

    /**
     * This process; empty when the host does not tell, or its process table is one of another
     * namespace, where the numbers mean other processes.
     */
    static Optional<ProcessId> own() {
        long pid = ProcessHandle.current().pid();
        try {
            return Files.readSymbolicLink(SELF).toString().equals(Long.toString(pid))
                    ? find(pid)
                    : Optional.empty();
        } catch (IOException | UnsupportedOperationException e) {
            return Optional.empty();
        }
    }

    /** The process that has a number now, perhaps ended and not yet buried; empty without one. */
    static Optional<ProcessId> find(long pid) {
        return fields(pid).map(fields -> new ProcessId(pid, Long.parseLong(fields[START_FIELD])));
    }

    /** Whether the process table has it, and not only its remains. */
    boolean isInTable() {
        return fields(pid)
                .filter(fields -> Long.parseLong(fields[START_FIELD]) == startTicks)
                .filter(fields -> !fields[0].equals("Z") && !fields[0].equals("X"))
                .isPresent();
    }

    /** What the process table tells after the name. */
    private static Optional<String[]> fields(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            // The name, in parentheses, may contain anything.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return fields.length > START_FIELD ? Optional.of(fields) : Optional.empty();
        } catch (IOException | RuntimeException e) {
            // Not there, or not the kernel that we know.
            return Optional.empty();
        }
    }

    /** Both as one number, never 0. */
    long word() {
        return (pid << START_BITS) | startTicks;
    }

    /** The process of a word that is not 0; empty when it cannot be one. */
    static Optional<ProcessId> of(long word) {
        long pid = word >>> START_BITS;
        return pid == 0
                ? Optional.empty()
                : Optional.of(new ProcessId(pid, word & ((1L << START_BITS) - 1)));
    }
}
