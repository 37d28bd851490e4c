package io.cassia.transfer;

import java.util.Objects;

/**
 * What peers may do with a registered buffer. Immutable.
 *
 * @param location where the memory lives: {@code cpu:<numa>}, or {@code *} when the engine is to
 *     find out
 * @param remoteAccessible whether it is published and peers may read it
 * @param remoteWritable whether peers may also write to it; a buffer of read-only memory is never
 *     remotely writable
 */
public record BufferOptions(String location, boolean remoteAccessible, boolean remoteWritable) {
    /** Published, readable and writable by every peer, as upstream does it. */
    public static final BufferOptions DEFAULT = new BufferOptions("*", true, true);

    /** Published and readable by every peer, writable by none. */
    public static final BufferOptions READ_ONLY = new BufferOptions("*", true, false);

    /** Known to the engine, not published, untouchable by peers. */
    public static final BufferOptions LOCAL = new BufferOptions("*", false, false);

    public BufferOptions {
        Objects.requireNonNull(location);
        if (remoteWritable && !remoteAccessible) {
            throw new IllegalArgumentException("writable by peers but not accessible to them");
        }
    }
}
