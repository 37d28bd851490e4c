package io.cassia.transfer.transport.shm;

import io.cassia.transfer.memory.ProcessCalls;
import java.util.Optional;

/**
 * Tells when one process has ended. Guarded by whoever holds it: he closes it when nobody asks any
 * more.
 *
 * <p>A descriptor of the process is asked, which costs one system call and cannot mean a later
 * process; where the kernel gives none, the process table.
 */
final class ProcessWatch implements AutoCloseable {
    private static final int NONE = -1;

    private final ProcessCalls calls;
    private final ProcessId process;
    private final int descriptor;

    private ProcessWatch(ProcessCalls calls, ProcessId process, int descriptor) {
        this.calls = calls;
        this.process = process;
        this.descriptor = descriptor;
    }

    /** Watches a process; empty when it has ended already. */
    static Optional<ProcessWatch> over(ProcessId process, ProcessCalls calls) {
        int descriptor = calls.openProcess(process.pid());
        if (descriptor == -ProcessCalls.ESRCH) {
            return Optional.empty();
        }
        ProcessWatch watch = new ProcessWatch(calls, process, descriptor < 0 ? NONE : descriptor);
        // Opened first: if the number still means that process, then the descriptor does, too.
        if (ProcessId.find(process.pid()).filter(process::equals).isPresent()
                && !watch.hasEnded()) {
            return Optional.of(watch);
        }
        watch.close();
        return Optional.empty();
    }

    /** Whether a process lives at the moment. */
    static boolean isAlive(ProcessId process, ProcessCalls calls) {
        Optional<ProcessWatch> watch = over(process, calls);
        watch.ifPresent(ProcessWatch::close);
        return watch.isPresent();
    }

    boolean hasEnded() {
        return descriptor != NONE ? calls.hasEnded(descriptor) : !process.isInTable();
    }

    @Override
    public void close() {
        if (descriptor != NONE) {
            calls.close(descriptor);
        }
    }
}
