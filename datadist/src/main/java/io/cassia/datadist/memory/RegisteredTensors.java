package io.cassia.datadist.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** The registered memory of one cache, until it is taken back. Guarded. */
public final class RegisteredTensors {
    private final Registrations registrations;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Deque<MemorySegment> left;

    /** The memory has been added before. */
    public RegisteredTensors(Registrations registrations, List<MemorySegment> tensors) {
        this.registrations = registrations;
        this.left = new ArrayDeque<>(tensors);
    }

    /**
     * Takes back what is left, one after the other; the first failure ends it, and another call
     * goes on there. {@code LLM_WAIT_PROC_TIMEOUT} when somebody does not let go of it.
     */
    public Outcome<Done> release() {
        lock.lock();
        try {
            while (!left.isEmpty()) {
                if (registrations.remove(List.of(left.getFirst()))
                        instanceof Outcome.Failed<Done> failed) {
                    return failed;
                }
                left.removeFirst();
            }
            return Outcome.done();
        } finally {
            lock.unlock();
        }
    }
}
