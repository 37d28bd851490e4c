package io.cassia.master;

import io.cassia.base.ByteString;
import io.cassia.master.core.Command;
import io.cassia.rpc.RpcServer;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ReplicaType;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.Outcome.Failed;
import io.cassia.status.StoreCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Immutable. Answers for features that this master does not have, with the codes of an upstream
 * master that was built or started without them (spec mooncake-store 4.1, 3.9, 6.9, 8.1). No such
 * task can be under way, so the Ends and Revokes find none.
 */
final class AbsentFeatures {
    private final MasterLoop loop;

    AbsentFeatures(MasterLoop loop) {
        this.loop = loop;
    }

    void register(RpcServer.Builder server) {
        nof(server);
        ssd(server);
        promotion(server);
        dynamicCopies(server);
    }

    private void nof(RpcServer.Builder server) {
        String why = "this master has no NVMe-oF segments";
        server.register(MasterMethods.MOUNT_NOF_SEGMENT, _ -> wrongMode(why))
                .register(MasterMethods.REMOUNT_NOF_SEGMENT, _ -> wrongMode(why))
                .register(MasterMethods.UNMOUNT_NOF_SEGMENT, _ -> wrongMode(why))
                .register(MasterMethods.GET_ALL_NOF_SEGMENTS, _ -> Outcome.ok(List.of()))
                .register(
                        MasterMethods.GET_NOF_SEGMENTS_BY_NAME,
                        name -> Outcome.failed(StoreCode.SEGMENT_NOT_FOUND, why + ", not " + name));
    }

    private void ssd(RpcServer.Builder server) {
        server.register(MasterMethods.MOUNT_LOCAL_DISK_SEGMENT, a -> unableToOffload(a.client()))
                .register(MasterMethods.UNMOUNT_LOCAL_DISK_SEGMENT, AbsentFeatures::unableToOffload)
                .register(MasterMethods.OFFLOAD_OBJECT_HEARTBEAT, a -> notRegistered(a.client()))
                .register(MasterMethods.POLL_REMOVE_ALL, AbsentFeatures::notRegistered)
                .register(MasterMethods.REPORT_SSD_CAPACITY, a -> notRegistered(a.client()))
                .register(MasterMethods.NOTIFY_OFFLOAD_SUCCESS, AbsentFeatures::offloaded)
                .register(
                        MasterMethods.EVICT_DISK_REPLICA,
                        a -> evictDisk(a.key(), a.tenant(), a.replicaType()))
                .register(
                        MasterMethods.BATCH_EVICT_DISK_REPLICA,
                        a ->
                                a.keys().stream()
                                        .map(key -> evictDisk(key, a.tenant(), a.replicaType()))
                                        .toList());
    }

    private static <T> Failed<T> unableToOffload(Uuid client) {
        return Outcome.failed(
                StoreCode.UNABLE_OFFLOAD,
                "client " + client + ": this master does not offload to SSDs");
    }

    private static <T> Failed<T> notRegistered(Uuid client) {
        return Outcome.failed(
                StoreCode.SEGMENT_NOT_FOUND, "client " + client + " has no SSD segment here");
    }

    private static Outcome<Done> offloaded(Args.NotifyOffload args) {
        if (args.tasks().size() != args.metadatas().size()) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "tasks=" + args.tasks().size() + " metadatas=" + args.metadatas().size());
        }
        return args.tasks().isEmpty() ? Outcome.done() : notRegistered(args.client());
    }

    private Outcome<Done> evictDisk(ByteString key, ByteString tenant, int replicaType) {
        Failed<Done> absent = absent(key, tenant);
        if (absent != null) {
            return absent;
        }
        boolean disk =
                replicaType == ReplicaType.DISK.number()
                        || replicaType == ReplicaType.LOCAL_DISK.number();
        return disk
                ? Outcome.done()
                : Outcome.failed(
                        StoreCode.INVALID_PARAMS,
                        "replica type " + replicaType + " is not on a disk, key " + key);
    }

    private void promotion(RpcServer.Builder server) {
        server.register(MasterMethods.PROMOTION_OBJECT_HEARTBEAT, AbsentFeatures::notRegistered)
                .register(
                        MasterMethods.PROMOTION_ALLOC_START,
                        a -> absentOr(a.key(), a.tenant(), noPromotion(a.key())))
                .register(
                        MasterMethods.NOTIFY_PROMOTION_SUCCESS,
                        a -> absentOr(a.key(), a.tenant(), noPromotion(a.key())))
                .register(MasterMethods.NOTIFY_PROMOTION_FAILURE, _ -> Outcome.done());
    }

    private static <T> Failed<T> noPromotion(ByteString key) {
        return Outcome.failed(
                StoreCode.REPLICA_IS_NOT_READY, "no promotion of key " + key + " is under way");
    }

    private void dynamicCopies(RpcServer.Builder server) {
        server.register(
                        MasterMethods.DYNAMIC_REPLICA_COPY_START,
                        a ->
                                absentOr(
                                        a.key(),
                                        a.tenant(),
                                        Outcome.failed(
                                                StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                                                "dynamic replication is off, key " + a.key())))
                .register(
                        MasterMethods.DYNAMIC_REPLICA_COPY_END,
                        a -> noTask(new Args.ClientKey(a.client(), a.key(), a.tenant())))
                .register(
                        MasterMethods.DYNAMIC_REPLICA_COPY_REVOKE,
                        a -> noTask(new Args.ClientKey(a.client(), a.key(), a.tenant())));
    }

    private Outcome<Done> noTask(Args.ClientKey args) {
        return absentOr(
                args.key(),
                args.tenant(),
                Outcome.failed(
                        StoreCode.OBJECT_NO_REPLICATION_TASK,
                        "no dynamic copy of key " + args.key() + " is under way"));
    }

    private static <T> Failed<T> wrongMode(String why) {
        return Outcome.failed(StoreCode.UNAVAILABLE_IN_CURRENT_MODE, why);
    }

    private <T> Outcome<T> absentOr(ByteString key, ByteString tenant, Failed<T> otherwise) {
        Failed<T> absent = absent(key, tenant);
        return absent == null ? otherwise : absent;
    }

    private <T> @Nullable Failed<T> absent(ByteString key, ByteString tenant) {
        return loop.apply(new Command.IsPresent(key, tenant))
                ? null
                : Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "no object has the key " + key);
    }
}
