package io.cassia.master.core;

import io.cassia.base.ByteString;
import java.util.List;

/**
 * Immutable. A readable object as the audit found it after a command.
 *
 * @param version that a get reads
 * @param busy whether a new version is being written or a copy made
 * @param silent whether only silent clients hold it
 * @param segments index of each segment that holds a complete replica
 */
record StoredObject(
        ObjectName name,
        long version,
        boolean hardPin,
        boolean busy,
        boolean silent,
        ByteString group,
        List<MountedSegment> segments) {
    boolean isLost() {
        for (MountedSegment segment : segments) {
            if (segment.isReadable()) {
                return false;
            }
        }
        return true;
    }
}
