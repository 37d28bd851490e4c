package io.cassia.rpc.mooncake;

import io.cassia.base.ByteString;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** How an object is to be stored (spec mooncake-store 2.2). Enum members are wire numbers. */
public record ReplicateConfig(
        long replicaNum,
        long nofReplicaNum,
        long dfsReplicaNum,
        int softPinAction,
        OptionalLong softPinTtlMs,
        boolean withHardPin,
        List<String> preferredSegments,
        String preferredSegment,
        List<String> preferredNofSegments,
        boolean preferAllocInSameNode,
        int dataType,
        String hostId,
        Optional<List<ByteString>> groupIds) {
    /** One memory replica, no pins, no preferences. */
    public static final ReplicateConfig DEFAULT =
            new ReplicateConfig(
                    1,
                    0,
                    0,
                    0,
                    OptionalLong.empty(),
                    false,
                    List.of(),
                    "",
                    List.of(),
                    false,
                    0,
                    "",
                    Optional.empty());
}
