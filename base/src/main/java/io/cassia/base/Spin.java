package io.cassia.base;

import java.io.IOException;
import java.io.InputStream;

/**
 * Looks a few times whether something has come, bytes above all, before its thread goes to sleep
 * over it. Confined to the thread that waits.
 *
 * <p>To wake a thread on an idle core takes longer than a small request does altogether, above all
 * on virtual machines. So who expects an answer at once stays awake for a moment, but only as long
 * as that pays: it stops when somebody else wants the core, and after looks in vain it sleeps for
 * more and more waits before it looks again.
 */
public final class Spin {
    /** Longest time awake in a usual wait: about two wake-ups and a small request. */
    public static final long LONGEST_NANOS = 60_000;

    /**
     * A yield takes no longer when only others run that wait as this one does, or answer a small
     * request: those are to run, and it costs them less than to be woken up. Whoever computes takes
     * milliseconds.
     */
    private static final long CROWDED_NANOS = LONGEST_NANOS;

    /** The end of a usual wait, should the clock stand still. */
    private static final int MOST_LOOKS = 1_000;

    /** Waits without a look after somebody else wanted the core, times how often that was so. */
    private static final int CROWDED_STEP = 8;

    private static final int LONGEST_CROWDED_PAUSE = 256;

    private static final int LONGEST_PAUSE = 1_024;

    /** As long as a large copy and a request take together. */
    private static final long PATIENT_NANOS = 100_000;

    private static final int PATIENT_PAUSE = 16;

    private final Clock clock;
    private final long longestNanos;
    private final long crowdedNanos;
    private final int longestPause;
    private int pause;
    private int crowding;
    private int skip;

    /**
     * A look at what is waited for.
     *
     * @param <E> what may go wrong
     */
    @FunctionalInterface
    public interface Look<E extends Exception> {
        /** Whether it is there; returns at once. */
        boolean isThere() throws E;
    }

    public Spin(Clock clock) {
        this(clock, LONGEST_NANOS, CROWDED_NANOS, LONGEST_PAUSE);
    }

    private Spin(Clock clock, long longestNanos, long crowdedNanos, int longestPause) {
        this.clock = clock;
        this.longestNanos = longestNanos;
        this.crowdedNanos = crowdedNanos;
        this.longestPause = longestPause;
    }

    /**
     * For who waits for work of its own process. It lets others have the core between two looks,
     * but goes on when they had it: with fewer cores than threads that are awake in turn, that
     * happens all the time and says nothing.
     */
    public static Spin patient(Clock clock) {
        return new Spin(clock, PATIENT_NANOS, Long.MAX_VALUE, PATIENT_PAUSE);
    }

    /**
     * Whether bytes have come in; false says nothing.
     *
     * @param in of a socket; only its {@link InputStream#available} is asked
     */
    public boolean sees(InputStream in) throws IOException {
        return this.<IOException>sees(() -> in.available() > 0);
    }

    /** Whether it has come; false says nothing. */
    public <E extends Exception> boolean sees(Look<E> look) throws E {
        return sees(look, longestNanos, crowdedNanos);
    }

    /**
     * Whether it has come; false says nothing. For waits of another length than most: what is done
     * beside the waiting has to be worth that time.
     *
     * @param atMostNanos time to stay awake
     */
    public <E extends Exception> boolean sees(Look<E> look, long atMostNanos) throws E {
        // What is waited for may be brought by a thread that needs this very core for it.
        return sees(look, atMostNanos, Math.max(crowdedNanos, atMostNanos / 2));
    }

    // Nothing relies on it: a yield lets the other end run when it is on this very core.
    @SuppressWarnings("ThreadPriorityCheck")
    private <E extends Exception> boolean sees(Look<E> look, long atMostNanos, long othersNanos)
            throws E {
        if (skip > 0) {
            skip--;
            return false;
        }
        if (Thread.currentThread().isVirtual()) {
            return false;
        }
        long looks = MOST_LOOKS * Math.max(1, atMostNanos / LONGEST_NANOS);
        long start = clock.nanos();
        long now = start;
        for (long i = 0; i < looks && now - start < atMostNanos; i++) {
            if (look.isThere()) {
                pause = 0;
                crowding = Math.max(0, crowding - 1);
                return true;
            }
            Thread.yield();
            long before = now;
            now = clock.nanos();
            if (now - before > othersNanos) {
                crowding = Math.min(crowding + CROWDED_STEP, LONGEST_CROWDED_PAUSE);
                skip = crowding;
                return false;
            }
        }
        pause = Math.min(Math.max(1, 2 * pause), longestPause);
        skip = pause;
        return false;
    }
}
