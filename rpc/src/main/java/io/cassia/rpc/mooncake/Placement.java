package io.cassia.rpc.mooncake;

/** Where a replica lives; the order is that of the wire's variant. Immutable. */
public sealed interface Placement {
    /** A range of a client's memory segment. */
    record Memory(BufferDescriptor buffer) implements Placement {}

    /** A range of an NVMe-oF namespace mapped as a segment. */
    record Nof(BufferDescriptor buffer) implements Placement {}

    /** A file of a shared file system, one per key. */
    record Disk(String filePath, long objectSize) implements Placement {}

    /** The SSD of one client, reached through that client. */
    record LocalDisk(Uuid client, long objectSize, String transportEndpoint) implements Placement {}

    /** A slot of a pre-allocated shard file of a distributed file system. */
    record Dfs(String filePath, long offset, long objectSize, long alignedSize, int shardIndex)
            implements Placement {}
}
