package io.cassia.rpc.mooncake;

import java.util.List;
import java.util.OptionalLong;

/**
 * Answer of GetReplicaList: the readable replicas and the lease that the read got.
 *
 * @param replicas readable replicas
 * @param leaseTtlMs milliseconds from the arrival of the request
 * @param objectChecksum CRC-64 of the object if the writer gave one
 */
public record ReplicaList(
        List<ReplicaDescriptor> replicas, long leaseTtlMs, OptionalLong objectChecksum) {}
