package io.cassia.master.core;

/**
 * Immutable. What a put asks for beside space.
 *
 * @param softPinNanos soft pin to set at the End; 0 removes it, {@link #PRESERVE} keeps it
 * @param hardPin never evict
 * @param dataType wire number, informational
 */
record PutTraits(long softPinNanos, boolean hardPin, int dataType) {
    static final long PRESERVE = -1;
}
