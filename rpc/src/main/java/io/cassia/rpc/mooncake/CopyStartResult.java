package io.cassia.rpc.mooncake;

import java.util.List;

/** Source and targets of a copy. */
public record CopyStartResult(ReplicaDescriptor source, List<ReplicaDescriptor> targets) {}
