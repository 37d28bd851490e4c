package io.cassia.gateways.rest;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.time.Duration;
import java.util.List;

/** Lends memory of this process to the pool, for the paths that ask for it. Thread-safe. */
public interface SegmentHost {
    /** Lends so many bytes; the ids of the segments that they make. */
    Outcome<List<String>> mount(long bytes);

    /**
     * Takes a segment back, after a time in which it can still be read. SEGMENT_NOT_FOUND when it
     * is not of this process.
     */
    Outcome<Done> unmount(String segment, Duration grace);
}
