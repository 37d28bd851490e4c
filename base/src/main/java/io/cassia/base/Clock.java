package io.cassia.base;

/**
 * The process's time. Product code takes it from its assembly; nothing else asks the JDK for time.
 */
public interface Clock {
    /** Monotonic nanoseconds from an arbitrary origin; never steps back. */
    long nanos();

    /**
     * Wall clock in milliseconds since 1970, for people and for wire fields that are defined so.
     */
    long epochMillis();

    /** The machine's clocks. */
    static Clock system() {
        return SystemClock.INSTANCE;
    }
}
