package io.cassia.store;

import io.cassia.rpc.mooncake.ReplicaDescriptor;
import java.util.List;

/**
 * A readable object at one moment. Immutable.
 *
 * @param sizeBytes its length
 * @param version differs from that of every other version of any object of the master; 0 from a
 *     master that keeps none
 * @param replicas where it is
 */
public record ObjectInfo(long sizeBytes, long version, List<ReplicaDescriptor> replicas) {}
