package io.cassia.app.replay;

import java.util.concurrent.locks.LockSupport;

/** Waiting, as a seam: tests let a fake clock jump instead. */
@FunctionalInterface
public interface Pause {
    /** Waits about this long; an early return is allowed. */
    void nanos(long nanos);

    /** Parks the calling thread. */
    static Pause real() {
        return LockSupport::parkNanos;
    }
}
