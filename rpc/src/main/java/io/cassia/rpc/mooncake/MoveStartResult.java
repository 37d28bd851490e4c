package io.cassia.rpc.mooncake;

import java.util.Optional;

/** Source and target of a move; no target when it already has a replica. */
public record MoveStartResult(ReplicaDescriptor source, Optional<ReplicaDescriptor> target) {}
