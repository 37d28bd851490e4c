package io.cassia.gateways.rest;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.time.Duration;
import java.util.List;

/** Lends memory to the pool, for the paths that ask for it. Thread-safe. */
public interface SegmentHost {
    /** Lends so many bytes of this process; the ids of the segments that they make. */
    Outcome<List<String>> mount(long bytes);

    /**
     * Lends part of another program's file. INVALID_PARAMS when the file has no such part, is not
     * plain or may not be written; SEGMENT_ALREADY_EXISTS when some of it is lent already;
     * UNAVAILABLE_IN_CURRENT_MODE when this system lends no files.
     */
    Outcome<List<String>> mount(FilePart part);

    /** The ids of all segments that are lent now. */
    List<String> lent();

    /**
     * Takes a segment back, after a time in which it can still be read. SEGMENT_NOT_FOUND when it
     * is not of this process.
     */
    Outcome<Done> unmount(String segment, Duration grace);
}
