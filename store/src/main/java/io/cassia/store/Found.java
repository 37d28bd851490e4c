package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import java.util.List;
import java.util.OptionalLong;

/**
 * What the master says of a readable object. Immutable.
 *
 * @param replicas at least one
 * @param version 0 from a master that keeps none
 * @param crc64 upstream's checksum, if the writer gave one
 * @param sums of the chunks; empty when the writer gave none
 */
record Found(List<ReplicaDescriptor> replicas, long version, OptionalLong crc64, ByteString sums) {
    long sizeBytes() {
        return switch (replicas.getFirst().placement()) {
            case Placement.Memory(BufferDescriptor buffer) -> buffer.size();
            case Placement.Nof(BufferDescriptor buffer) -> buffer.size();
            case Placement.Disk disk -> disk.objectSize();
            case Placement.LocalDisk disk -> disk.objectSize();
            case Placement.Dfs dfs -> dfs.objectSize();
        };
    }

    ObjectInfo info() {
        return new ObjectInfo(sizeBytes(), version, replicas);
    }

    /** Whether every chunk can be proved. */
    boolean isChecked() {
        return !sums.isEmpty() && Checksums.fits(sums, sizeBytes());
    }
}
