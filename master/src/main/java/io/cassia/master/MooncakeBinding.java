package io.cassia.master;

import io.cassia.base.ByteString;
import io.cassia.master.core.Command;
import io.cassia.master.core.Selection;
import io.cassia.rpc.RpcContext;
import io.cassia.rpc.RpcServer;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaType;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.rpc.mooncake.StorageConfig;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Immutable. Upstream's master methods as commands to the loop (spec mooncake-store 11.1). What
 * this master does not have (NVMe-oF, SSD tier, dynamic copies) is answered by {@link
 * AbsentFeatures} as by an upstream master without it.
 */
final class MooncakeBinding {
    private final MasterConfig config;
    private final MasterLoop loop;
    private final PutTerm term;
    private final MeterRegistry meters;
    private final PutMeters puts;

    MooncakeBinding(
            MasterConfig config,
            MasterLoop loop,
            PutTerm term,
            MeterRegistry meters,
            PutMeters puts) {
        this.config = config;
        this.loop = loop;
        this.term = term;
        this.meters = meters;
        this.puts = puts;
    }

    void register(RpcServer.Builder server) {
        service(server);
        reads(server);
        puts(server);
        upserts(server);
        removals(server);
        segments(server);
        new AbsentFeatures(loop).register(server);
    }

    private OperationMeter single(String operation) {
        return OperationMeter.single(meters, operation);
    }

    private OperationMeter batch(String operation) {
        return OperationMeter.batch(meters, operation);
    }

    private void service(RpcServer.Builder server) {
        OperationMeter ping = single("ping");
        Outcome<String> version = Outcome.ok(config.serviceVersion());
        // No shared file system tier, and therefore no directory.
        Outcome<String> fsdir = Outcome.ok("");
        Outcome<StorageConfig> storage =
                Outcome.ok(new StorageConfig("", config.diskEviction(), config.diskQuotaBytes()));
        server.register(MasterMethods.SERVICE_READY, _ -> version)
                .register(MasterMethods.GET_FSDIR, _ -> fsdir)
                .register(MasterMethods.GET_STORAGE_CONFIG, _ -> storage)
                .register(
                        MasterMethods.PING,
                        client -> ping.count(loop.apply(new Command.Ping(client))));
    }

    private void reads(RpcServer.Builder server) {
        OperationMeter exist = single("exist_key");
        OperationMeter batchExist = batch("exist_key");
        OperationMeter get = single("get_replica_list");
        OperationMeter batchGet = batch("get_replica_list");
        OperationMeter byRegex = single("get_replica_list_by_regex");
        server.register(
                        MasterMethods.EXIST_KEY,
                        a -> exist.count(loop.apply(new Command.ExistKey(a.key(), a.tenant()))))
                .register(
                        MasterMethods.BATCH_EXIST_KEY,
                        a ->
                                batchExist.count(
                                        loop.applyInPieces(
                                                a.keys(),
                                                keys ->
                                                        new Command.BatchExistKey(
                                                                new Args.Keys(keys, a.tenant())))))
                .register(
                        MasterMethods.GET_REPLICA_LIST,
                        a -> get.count(loop.apply(new Command.GetReplicaList(a.key(), a.tenant()))))
                .register(
                        MasterMethods.BATCH_GET_REPLICA_LIST,
                        a ->
                                batchGet.count(
                                        loop.applyInPieces(
                                                a.keys(),
                                                keys ->
                                                        new Command.BatchGetReplicaList(
                                                                new Args.Keys(keys, a.tenant())))))
                .register(
                        MasterMethods.GET_REPLICA_LIST_BY_REGEX,
                        a -> byRegex.count(loop.get(matching(a.key(), a.tenant()))));
    }

    private void puts(RpcServer.Builder server) {
        OperationMeter start = single("put_start");
        OperationMeter end = single("put_end");
        OperationMeter revoke = single("put_revoke");
        OperationMeter batchRevoke = batch("put_revoke");
        server.registerWithContext(
                        MasterMethods.PUT_START,
                        term.told(
                                a -> {
                                    puts.sizes().record((double) a.length());
                                    return start.count(loop.apply(new Command.PutStart(a)));
                                }))
                .registerWithContext(
                        MasterMethods.PUT_END,
                        (a, context) ->
                                end.count(loop.apply(new Command.PutEnd(a, PutIds.first(context)))))
                .registerWithContext(
                        MasterMethods.PUT_REVOKE,
                        (a, context) ->
                                revoke.count(
                                        loop.apply(
                                                new Command.PutRevoke(a, PutIds.first(context)))))
                .registerWithContext(
                        MasterMethods.BATCH_PUT_START,
                        term.told(
                                a -> {
                                    a.lengths().forEach(puts.sizes()::record);
                                    return puts.batchStart()
                                            .count(startAll(a, Command.BatchPutStart::new));
                                }))
                .registerWithContext(
                        MasterMethods.BATCH_PUT_END,
                        (a, context) -> puts.batchEnd().count(endAll(a, PutIds.of(context))))
                .registerWithContext(
                        MasterMethods.BATCH_PUT_REVOKE,
                        (a, context) -> batchRevoke.count(revokeAll(a, PutIds.of(context))));
    }

    /**
     * In pieces, but for a batch whose items depend on each other or that is refused as a whole.
     */
    private List<Outcome<List<ReplicaDescriptor>>> startAll(
            Args.BatchPutStart batch,
            Function<Args.BatchPutStart, Command<List<Outcome<List<ReplicaDescriptor>>>>> command) {
        int count = batch.keys().size();
        boolean whole =
                count <= MasterLoop.LONGEST_PIECE
                        || batch.lengths().size() != count
                        || batch.config().groupIds().isPresent()
                        || batch.config().preferAllocInSameNode();
        if (whole) {
            return loop.applyLong(command.apply(batch));
        }
        List<Outcome<List<ReplicaDescriptor>>> started = new ArrayList<>(count);
        for (int from = 0; from < count; from += MasterLoop.LONGEST_PIECE) {
            int to = Math.min(count, from + MasterLoop.LONGEST_PIECE);
            started.addAll(
                    loop.applyLong(
                            command.apply(
                                    new Args.BatchPutStart(
                                            batch.client(),
                                            batch.keys().subList(from, to),
                                            batch.lengths().subList(from, to),
                                            batch.config(),
                                            batch.tenant()))));
        }
        return started;
    }

    private List<Outcome<Done>> endAll(Args.BatchPutEnd batch, List<Long> puts) {
        return PutIds.inPieces(
                batch.objects(),
                puts,
                MasterLoop.LONGEST_PIECE,
                (objects, own) ->
                        loop.applyLong(
                                new Command.BatchPutEnd(
                                        batch.client(),
                                        objects,
                                        batch.replicaType(),
                                        batch.tenant(),
                                        own)));
    }

    private List<Outcome<Done>> revokeAll(Args.BatchPutRevoke batch, List<Long> puts) {
        return PutIds.inPieces(
                batch.keys(),
                puts,
                MasterLoop.LONGEST_PIECE,
                (keys, own) ->
                        loop.applyLong(
                                new Command.BatchPutRevoke(
                                        batch.client(),
                                        keys,
                                        batch.replicaType(),
                                        batch.tenant(),
                                        own)));
    }

    private void upserts(RpcServer.Builder server) {
        int all = ReplicaType.ALL.number();
        OperationMeter start = single("upsert_start");
        OperationMeter end = single("upsert_end");
        OperationMeter revoke = single("upsert_revoke");
        OperationMeter batchRevoke = batch("upsert_revoke");
        server.registerWithContext(
                        MasterMethods.UPSERT_START,
                        term.told(a -> start.count(loop.apply(new Command.UpsertStart(a)))))
                .registerWithContext(
                        MasterMethods.UPSERT_END,
                        (a, context) ->
                                end.count(loop.apply(new Command.PutEnd(a, PutIds.first(context)))))
                .registerWithContext(
                        MasterMethods.UPSERT_REVOKE,
                        (a, context) ->
                                revoke.count(
                                        loop.apply(
                                                new Command.PutRevoke(a, PutIds.first(context)))))
                .registerWithContext(
                        MasterMethods.BATCH_UPSERT_START,
                        term.told(
                                a ->
                                        puts.batchUpsertStart()
                                                .count(startAll(a, Command.BatchUpsertStart::new))))
                .registerWithContext(
                        MasterMethods.BATCH_UPSERT_END,
                        (a, context) ->
                                puts.batchUpsertEnd()
                                        .count(
                                                endAll(
                                                        new Args.BatchPutEnd(
                                                                a.client(),
                                                                a.objects(),
                                                                all,
                                                                a.tenant()),
                                                        PutIds.of(context))))
                .registerWithContext(
                        MasterMethods.BATCH_UPSERT_REVOKE,
                        (a, context) ->
                                batchRevoke.count(
                                        revokeAll(
                                                new Args.BatchPutRevoke(
                                                        a.client(), a.keys(), all, a.tenant()),
                                                PutIds.of(context))));
    }

    private void removals(RpcServer.Builder server) {
        OperationMeter remove = single("remove");
        OperationMeter byRegex = single("remove_by_regex");
        OperationMeter all = single("remove_all");
        OperationMeter clear = batch("replica_clear");
        OperationMeter batchRemove = batch("remove");
        server.register(
                        MasterMethods.REMOVE,
                        a ->
                                remove.count(
                                        loop.apply(
                                                new Command.Remove(
                                                        a.key(), a.force(), a.tenant()))))
                .register(
                        MasterMethods.BATCH_REMOVE,
                        a ->
                                batchRemove.count(
                                        loop.applyInPieces(
                                                a.keys(),
                                                keys ->
                                                        new Command.BatchRemove(
                                                                new Args.BatchRemove(
                                                                        keys,
                                                                        a.force(),
                                                                        a.tenant())))))
                .register(
                        MasterMethods.REMOVE_BY_REGEX,
                        a -> byRegex.count(loop.remove(matching(a.key(), a.tenant()), a.force())))
                .register(MasterMethods.REMOVE_ALL, a -> removeAll(all, a))
                .register(
                        MasterMethods.BATCH_REPLICA_CLEAR,
                        a ->
                                clear.count(
                                        a.keys().size(),
                                        loop.applyLong(new Command.BatchReplicaClear(a))
                                                .map(
                                                        keys ->
                                                                keys.stream()
                                                                        .map(ByteString::text)
                                                                        .toList()),
                                        List::size));
    }

    /** Upstream's answer has no room for an error: it is 0 then. */
    private Long removeAll(OperationMeter meter, Args.RemoveAll args) {
        Optional<ByteString> tenant =
                args.tenant().isEmpty() ? Optional.empty() : Optional.of(args.tenant());
        Outcome<Long> removed = loop.remove(new Selection(tenant, Optional.empty()), args.force());
        return meter.count(removed) instanceof Outcome.Ok<Long>(Long count) ? count : 0L;
    }

    private static Selection matching(ByteString regex, ByteString tenant) {
        return new Selection(Optional.of(tenant), Optional.of(regex));
    }

    /** For upstream a segment that is already mounted is a success, whoever mounted it. */
    private static Outcome<Done> remarkOnly(Outcome<Done> mounted, RpcContext context) {
        boolean exists =
                mounted instanceof Outcome.Failed<Done> failed
                        && failed.code() == StoreCode.SEGMENT_ALREADY_EXISTS;
        return exists && context.request().isEmpty() ? Outcome.done() : mounted;
    }

    private void segments(RpcServer.Builder server) {
        OperationMeter mount = single("mount_segment");
        OperationMeter remount = single("remount_segment");
        OperationMeter unmount = single("unmount_segment");
        OperationMeter queryIp = batch("query_ip");
        server.registerWithContext(
                        MasterMethods.MOUNT_SEGMENT,
                        (a, context) ->
                                mount.count(
                                        remarkOnly(
                                                loop.apply(new Command.MountSegment(a)), context)))
                .register(
                        MasterMethods.REMOUNT_SEGMENT,
                        a -> remount.count(loop.apply(new Command.ReMountSegment(a))))
                .register(
                        MasterMethods.UNMOUNT_SEGMENT,
                        a -> unmount.count(loop.applyLong(new Command.UnmountSegment(a))))
                .register(
                        MasterMethods.GRACEFUL_UNMOUNT_SEGMENT,
                        a -> loop.apply(new Command.GracefulUnmountSegment(a)))
                .register(
                        MasterMethods.QUERY_SEGMENT_STATUS,
                        name ->
                                loop.apply(new Command.QuerySegmentStatus(name))
                                        .map(SegmentStatus::number))
                .register(
                        MasterMethods.QUERY_SEGMENT_STATUS_BY_ID,
                        id ->
                                loop.apply(new Command.QuerySegmentStatusById(id))
                                        .map(SegmentStatus::number))
                .register(
                        MasterMethods.BATCH_QUERY_IP,
                        clients ->
                                queryIp.count(
                                        clients.size(),
                                        Outcome.ok(loop.apply(new Command.BatchQueryIp(clients))),
                                        Map::size));
    }
}
