package io.cassia.rpc.cassia;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import java.util.List;
import java.util.OptionalLong;

/**
 * Arguments and results of the methods that carry checksums and versions beside the replicas.
 * Immutable data.
 *
 * <p>{@code sums} are the CRC32C of each 64 KiB chunk of an object, 4 bytes little-endian each, in
 * order; empty when its writer gave none. A version is a number that no other version of any object
 * of this master has.
 */
public final class CheckedMessages {
    private CheckedMessages() {}

    /**
     * A readable object.
     *
     * @param crc64 upstream's checksum, if the writer gave one
     */
    public record CheckedObject(
            List<ReplicaDescriptor> replicas, long version, OptionalLong crc64, ByteString sums) {}

    /** As {@link CassiaMessages.Acquired}, with what proves the bytes. */
    public record CheckedAcquired(
            long leaseId, long leaseTtlMs, List<Outcome<CheckedObject>> objects) {}

    /** A written object. */
    public record WrittenObject(ByteString key, OptionalLong crc64, ByteString sums) {}

    /** {@code cassia::Master::EndChecked}: ends puts and upserts of one client. */
    public record EndChecked(Uuid client, List<WrittenObject> objects, ByteString tenant) {}

    /**
     * {@code cassia::Master::UpsertStartIf}: starts an upsert if the object's current version is
     * this one.
     *
     * @param version {@link #NO_VERSION} for a put of what must not be there, which replaces
     *     nothing but an unfinished put of the same client
     */
    public record UpsertStartIf(Args.PutStart put, long version) {
        public static final long NO_VERSION = 0;
    }

    /**
     * {@code cassia::Master::DropReplica}: a reader found wrong bytes in a replica.
     *
     * @param version of the object that was read
     */
    public record DropReplica(ByteString key, ByteString tenant, long version, long replica) {}
}
