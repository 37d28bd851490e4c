package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.DataType;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.SoftPinAction;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * How a put stores its object. Immutable; start from {@link #DEFAULT} or {@link #UPSERT} and change
 * with the {@code with} methods.
 *
 * @param replicate replicas, pins, preferences (spec mooncake-store 2.2)
 * @param condition what must hold of the key
 */
public record PutOptions(ReplicateConfig replicate, Condition condition) {
    /** One replica; the key must be free. */
    public static final PutOptions DEFAULT = new PutOptions(ReplicateConfig.DEFAULT);

    /** One replica; what has the key is replaced. */
    public static final PutOptions UPSERT =
            new PutOptions(ReplicateConfig.DEFAULT, new Condition.Always());

    /** When a put changes anything. */
    public sealed interface Condition {
        /** The key is free, else OBJECT_ALREADY_EXISTS. */
        record IfAbsent() implements Condition {}

        /** In any case: an upsert. Readers see the old version or the new one, never both. */
        record Always() implements Condition {}

        /**
         * The key has this version, else INVALID_VERSION; OBJECT_NOT_FOUND when it is free.
         *
         * @param version from {@link ObjectInfo} or an earlier put
         */
        record IfVersion(long version) implements Condition {}
    }

    /** If the key is free. */
    public PutOptions(ReplicateConfig replicate) {
        this(replicate, new Condition.IfAbsent());
    }

    public PutOptions withCondition(Condition value) {
        return new PutOptions(replicate, value);
    }

    /** Replaces what has the key. */
    public PutOptions upsert() {
        return withCondition(new Condition.Always());
    }

    /** Only when the key is free. */
    public PutOptions ifAbsent() {
        return withCondition(new Condition.IfAbsent());
    }

    /** Only over that version. */
    public PutOptions ifVersion(long version) {
        return withCondition(new Condition.IfVersion(version));
    }

    /** Memory replicas on different nodes, as many as can be had; at least 1. */
    public PutOptions withReplicas(int count) {
        return with(draft -> draft.replicas = count);
    }

    /** Never evicted. */
    public PutOptions withHardPin() {
        return with(draft -> draft.hardPin = true);
    }

    /** Evicted after the others until that time from the end of the put; zero removes the pin. */
    public PutOptions withSoftPin(Duration time) {
        return with(
                draft -> {
                    draft.softPinAction = SoftPinAction.ENABLE.number();
                    draft.softPinTtlMs = OptionalLong.of(time.toMillis());
                });
    }

    /** Names of segments to be tried first, in order. */
    public PutOptions withPreferred(List<String> segments) {
        return with(draft -> draft.preferred = List.copyOf(segments));
    }

    /** Objects of a group are leased and evicted together; one name per key, empty for none. */
    public PutOptions withGroups(List<ByteString> groups) {
        return with(draft -> draft.groups = Optional.of(List.copyOf(groups)));
    }

    /**
     * Objects of a batch on the node of the first one, as far as there is room; with {@link
     * #ifVersion} it has no effect. INVALID_PARAMS with another number of replicas than 1, with
     * NVMe-oF replicas, and by all puts but {@link StoreClient#putPartsBatch}, {@link
     * StoreClient#openWrite} and {@link StoreClient#openWriteBatch} (spec mooncake-store 2.2).
     */
    public PutOptions withSameNode() {
        return with(draft -> draft.sameNode = true);
    }

    /** For the figures of the master. */
    public PutOptions withDataType(DataType type) {
        return with(draft -> draft.dataType = type.number());
    }

    /** Confined to a {@code with} method. */
    private static final class Draft {
        long replicas;
        int softPinAction;
        OptionalLong softPinTtlMs;
        boolean hardPin;
        List<String> preferred;
        boolean sameNode;
        int dataType;
        Optional<List<ByteString>> groups;

        Draft(ReplicateConfig from) {
            replicas = from.replicaNum();
            softPinAction = from.softPinAction();
            softPinTtlMs = from.softPinTtlMs();
            hardPin = from.withHardPin();
            preferred = from.preferredSegments();
            sameNode = from.preferAllocInSameNode();
            dataType = from.dataType();
            groups = from.groupIds();
        }
    }

    private PutOptions with(Consumer<Draft> change) {
        Draft draft = new Draft(replicate);
        change.accept(draft);
        return new PutOptions(
                new ReplicateConfig(
                        draft.replicas,
                        replicate.nofReplicaNum(),
                        replicate.dfsReplicaNum(),
                        draft.softPinAction,
                        draft.softPinTtlMs,
                        draft.hardPin,
                        draft.preferred,
                        replicate.preferredSegment(),
                        replicate.preferredNofSegments(),
                        draft.sameNode,
                        draft.dataType,
                        replicate.hostId(),
                        draft.groups),
                condition);
    }
}
