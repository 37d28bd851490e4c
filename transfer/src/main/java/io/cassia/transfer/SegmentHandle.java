package io.cassia.transfer;

/**
 * An opened segment of a peer. Immutable. It stays valid while the engine lives, also when the peer
 * restarts under the same name: the engine then reads the peer's descriptor again.
 *
 * @param id number of this segment in this engine; 0 is the engine's own segment; means nothing to
 *     peers
 * @param name published name
 */
public record SegmentHandle(long id, String name) {
    /** Number of the engine's own segment. */
    public static final long LOCAL_ID = 0;

    /** Whether this is the engine's own segment. */
    public boolean isLocal() {
        return id == LOCAL_ID;
    }
}
