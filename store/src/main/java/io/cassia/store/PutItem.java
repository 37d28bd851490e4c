package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CheckedMessages.WrittenObject;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** One object of a batch of puts on its way. Confined to its call. */
final class PutItem {
    static final Outcome<List<ReplicaDescriptor>> NOT_STARTED = Outcome.ok(List.of());

    final int index;
    final ByteString key;
    final List<MemorySegment> parts;
    final long bytes;
    final OptionalLong crc64;
    final Sums sums;
    Outcome<List<ReplicaDescriptor>> started = NOT_STARTED;
    Outcome<Done> moved = Outcome.done();

    PutItem(
            int index,
            ByteString key,
            List<MemorySegment> parts,
            long bytes,
            OptionalLong crc64,
            Sums sums) {
        this.index = index;
        this.key = key;
        this.parts = parts;
        this.bytes = bytes;
        this.crc64 = crc64;
        this.sums = sums;
    }

    WrittenObject written() {
        return new WrittenObject(key, crc64, sums.all());
    }

    /** The id of this attempt. */
    long put() {
        return started instanceof Outcome.Ok<List<ReplicaDescriptor>>(var replicas)
                        && !replicas.isEmpty()
                ? replicas.getFirst().id()
                : 0;
    }

    String context() {
        return "put of " + Keys.show(key);
    }

    /** Which puts are meant: by their first replicas. */
    static List<Long> puts(List<PutItem> items) {
        List<Long> puts = new ArrayList<>(items.size());
        for (PutItem item : items) {
            puts.add(item.put());
        }
        return puts;
    }
}
