package io.cassia.rpc.mooncake;

/**
 * One replica of an object as the master describes it.
 *
 * @param id unique in the life of a master
 * @param placement where the bytes are
 * @param status number of a {@link ReplicaStatus}
 */
public record ReplicaDescriptor(long id, Placement placement, int status) {}
