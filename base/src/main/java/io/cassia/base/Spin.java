package io.cassia.base;

import java.io.IOException;
import java.io.InputStream;

/**
 * Looks a few times whether bytes have come in before its thread goes to sleep over them. Confined
 * to the thread that reads.
 *
 * <p>To wake a thread on an idle core takes longer than a small request does altogether, above all
 * on virtual machines. So who expects an answer at once stays awake for a moment, but only as long
 * as that pays: it stops when somebody else wants the core, and after looks in vain it sleeps for
 * more and more waits before it looks again.
 */
public final class Spin {
    /** Longest time awake in one wait: about two wake-ups and a small request. */
    private static final long LONGEST_NANOS = 60_000;

    /** One look and a yield take less, unless another thread has run in between. */
    private static final long CROWDED_NANOS = 8_000;

    /** The end of a wait, should the clock stand still. */
    private static final int MOST_LOOKS = 1_000;

    /** Waits without a look after somebody else wanted the core, times how often that was so. */
    private static final int CROWDED_STEP = 8;

    private static final int LONGEST_CROWDED_PAUSE = 256;

    private static final int LONGEST_PAUSE = 1_024;

    private final Clock clock;
    private int pause;
    private int crowding;
    private int skip;

    public Spin(Clock clock) {
        this.clock = clock;
    }

    /**
     * Whether bytes have come in; false says nothing.
     *
     * @param in of a socket; only its {@link InputStream#available} is asked
     */
    // Nothing relies on it: a yield lets the other end run when it is on this very core.
    @SuppressWarnings("ThreadPriorityCheck")
    public boolean sees(InputStream in) throws IOException {
        if (skip > 0) {
            skip--;
            return false;
        }
        if (Thread.currentThread().isVirtual()) {
            return false;
        }
        long start = clock.nanos();
        long now = start;
        for (int i = 0; i < MOST_LOOKS && now - start < LONGEST_NANOS; i++) {
            if (in.available() > 0) {
                pause = 0;
                crowding = Math.max(0, crowding - 1);
                return true;
            }
            Thread.yield();
            long before = now;
            now = clock.nanos();
            if (now - before > CROWDED_NANOS) {
                crowding = Math.min(crowding + CROWDED_STEP, LONGEST_CROWDED_PAUSE);
                skip = crowding;
                return false;
            }
        }
        pause = Math.min(Math.max(1, 2 * pause), LONGEST_PAUSE);
        skip = pause;
        return false;
    }
}
