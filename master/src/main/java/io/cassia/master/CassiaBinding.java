package io.cassia.master;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.master.core.Command;
import io.cassia.rpc.RpcServer;
import io.cassia.rpc.cassia.CassiaMessages.HelloResult;
import io.cassia.rpc.cassia.CassiaMessages.ListKeys;
import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.cassia.CheckedMessages.EndChecked;
import io.cassia.rpc.cassia.CheckedMethods;
import io.cassia.rpc.cassia.ReservedMessages.Commit;
import io.cassia.rpc.cassia.ReservedMessages.EndReserving;
import io.cassia.rpc.cassia.ReservedMessages.Ended;
import io.cassia.rpc.cassia.ReservedMessages.Reserved;
import io.cassia.rpc.cassia.ReservedMessages.Wanted;
import io.cassia.rpc.cassia.ReservedMethods;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.List;

/** Immutable. Cassia's own master methods as commands to the loop. */
final class CassiaBinding {
    /** Extensions that a client may use once it has seen them. */
    static final List<String> CAPABILITIES =
            List.of(
                    "acquire",
                    "release",
                    "list",
                    "stats",
                    "details",
                    "longest-prefix",
                    "explain",
                    "tenants",
                    "drain",
                    "puts",
                    "clients",
                    "shards",
                    "term",
                    CheckedMethods.CAPABILITY,
                    ReservedMethods.CAPABILITY);

    private static final String PRODUCT = "cassia 0.1.0";

    /** Keys in one page at most, whatever the caller asks for. */
    private static final long LONGEST_PAGE = 10_000;

    private final MasterLoop loop;
    private final Clock clock;
    private final PutTerm term;
    private final TenantAdmin tenants;
    private final PutMeters puts;

    CassiaBinding(MasterLoop loop, Clock clock, PutTerm term, TenantAdmin tenants, PutMeters puts) {
        this.loop = loop;
        this.clock = clock;
        this.term = term;
        this.tenants = tenants;
        this.puts = puts;
    }

    void register(RpcServer.Builder server) {
        Outcome<HelloResult> hello = Outcome.ok(new HelloResult(PRODUCT, CAPABILITIES));
        server.register(CassiaMethods.HELLO, _ -> hello)
                .register(
                        CassiaMethods.ACQUIRE,
                        a -> Outcome.ok(loop.applyLong(new Command.Acquire(a))))
                .register(
                        CassiaMethods.RELEASE,
                        a -> Outcome.ok(loop.applyLong(new Command.Release(a.leaseIds()))))
                .register(CassiaMethods.LONGEST_PREFIX, loop::longestPrefix)
                .register(
                        CassiaMethods.EXPLAIN,
                        a -> loop.applyLong(new Command.Explain(a.key(), a.tenant())))
                .register(CassiaMethods.LIST_KEYS, a -> Outcome.ok(loop.list(limited(a))))
                .register(
                        CheckedMethods.ACQUIRE_CHECKED,
                        a -> Outcome.ok(loop.applyLong(new Command.AcquireChecked(a))))
                .registerWithContext(
                        CheckedMethods.END_CHECKED, (a, context) -> end(a, PutIds.of(context)))
                .register(ReservedMethods.END_RESERVING, this::endReserving)
                .register(ReservedMethods.COMMIT, this::commit)
                .register(
                        ReservedMethods.GIVE_BACK,
                        a ->
                                isShort(a.spaces())
                                        ? Outcome.ok(loop.applyLong(new Command.GiveBack(a)))
                                        : tooMany(a.spaces()))
                .registerWithContext(
                        CheckedMethods.UPSERT_START_IF,
                        term.told(a -> loop.applyLong(new Command.UpsertStartIf(a))))
                .register(
                        CheckedMethods.DROP_REPLICA,
                        a -> Outcome.ok(loop.apply(new Command.DropReplica(a))))
                .register(
                        CassiaMethods.SET_TENANT_QUOTA,
                        a -> loop.outside(() -> tenants.set(a.tenant(), a.requestedBytes())))
                .register(
                        CassiaMethods.TENANT_QUOTAS,
                        tenant -> loop.apply(new Command.TenantQuotas(tenant)))
                .register(
                        CassiaMethods.DELETE_TENANT_QUOTA,
                        tenant -> loop.outside(() -> tenants.delete(tenant)))
                .register(
                        CassiaMethods.CREATE_DRAIN_JOB,
                        a -> loop.apply(new Command.CreateDrainJob(a, clock.epochMillis())))
                .register(
                        CassiaMethods.QUERY_DRAIN_JOB,
                        id -> loop.apply(new Command.QueryDrainJob(id)))
                .register(
                        CassiaMethods.CANCEL_DRAIN_JOB,
                        id -> loop.apply(new Command.CancelDrainJob(id)))
                .register(CassiaMethods.CLIENTS, id -> loop.applyLong(new Command.Clients(id)))
                .register(CassiaMethods.LIST_SHARD, a -> loop.applyLong(new Command.ListShard(a)))
                .register(CassiaMethods.STATS, _ -> Outcome.ok(loop.apply(new Command.Stats())));
    }

    private List<Outcome<Long>> end(EndChecked batch, List<Long> ids) {
        return puts.batchEnd()
                .count(
                        PutIds.inPieces(
                                batch.objects(),
                                ids,
                                MasterLoop.LONGEST_PIECE,
                                (objects, own) ->
                                        loop.applyLong(
                                                new Command.EndChecked(
                                                        new EndChecked(
                                                                batch.client(),
                                                                objects,
                                                                batch.tenant()),
                                                        own))));
    }

    private Outcome<Ended> endReserving(EndReserving batch) {
        EndChecked end = batch.end();
        List<Outcome<Long>> ended = end(end, batch.puts());
        return Outcome.ok(
                new Ended(ended, reserve(end.client(), end.tenant(), batch.next(), ended)));
    }

    private Outcome<Ended> commit(Commit batch) {
        for (List<?> items : List.of(batch.objects(), batch.lengths(), batch.spaces())) {
            if (!isShort(items)) {
                return tooMany(items);
            }
        }
        if (!batch.upsert()) {
            batch.lengths().forEach(puts.sizes()::record);
        }
        List<Outcome<Long>> committed = loop.applyLong(new Command.Commit(batch));
        boolean upsert = batch.upsert();
        List<Outcome<Long>> _ =
                (upsert ? puts.batchUpsertStart() : puts.batchStart()).count(committed);
        List<Outcome<Long>> stored = committed.stream().filter(Outcome::isOk).toList();
        if (!stored.isEmpty()) {
            List<Outcome<Long>> _ =
                    (upsert ? puts.batchUpsertEnd() : puts.batchEnd()).count(stored);
        }
        return Outcome.ok(
                new Ended(
                        committed,
                        reserve(batch.client(), batch.tenant(), batch.next(), committed)));
    }

    /** No client was ever given more. */
    private static boolean isShort(List<?> items) {
        return items.size() <= Wanted.MOST_OBJECTS;
    }

    private static <T> Outcome<T> tooMany(List<?> items) {
        return Outcome.failed(
                StoreCode.INVALID_PARAMS,
                "items=" + items.size() + ", at most " + Wanted.MOST_OBJECTS);
    }

    /** Who has just been refused something does not go on as before. */
    private Reserved reserve(
            Uuid client, ByteString tenant, Wanted wanted, List<Outcome<Long>> ended) {
        return wanted.lengths().isEmpty() || !ended.stream().allMatch(Outcome::isOk)
                ? Reserved.NOTHING
                : loop.applyLong(new Command.Reserve(client, tenant, wanted));
    }

    private static ListKeys limited(ListKeys query) {
        boolean fits = query.limit() >= 0 && query.limit() <= LONGEST_PAGE;
        return fits
                ? query
                : new ListKeys(query.prefix(), query.after(), LONGEST_PAGE, query.tenant());
    }
}
