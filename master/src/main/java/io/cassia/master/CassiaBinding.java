package io.cassia.master;

import io.cassia.base.Clock;
import io.cassia.master.core.Command;
import io.cassia.rpc.RpcContext;
import io.cassia.rpc.RpcServer;
import io.cassia.rpc.cassia.CassiaMessages.HelloResult;
import io.cassia.rpc.cassia.CassiaMessages.ListKeys;
import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.cassia.CheckedMessages.EndChecked;
import io.cassia.rpc.cassia.CheckedMethods;
import io.cassia.status.Outcome;
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
                    CheckedMethods.CAPABILITY);

    private static final String PRODUCT = "cassia 0.1.0";

    /** Keys in one page at most, whatever the caller asks for. */
    private static final long LONGEST_PAGE = 10_000;

    private final MasterLoop loop;
    private final Clock clock;
    private final PutTerm term;
    private final TenantAdmin tenants;

    CassiaBinding(MasterLoop loop, Clock clock, PutTerm term, TenantAdmin tenants) {
        this.loop = loop;
        this.clock = clock;
        this.term = term;
        this.tenants = tenants;
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
                .registerWithContext(CheckedMethods.END_CHECKED, this::end)
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

    private List<Outcome<Long>> end(EndChecked batch, RpcContext context) {
        return PutIds.inPieces(
                batch.objects(),
                PutIds.of(context),
                MasterLoop.LONGEST_PIECE,
                (objects, puts) ->
                        loop.applyLong(
                                new Command.EndChecked(
                                        new EndChecked(batch.client(), objects, batch.tenant()),
                                        puts)));
    }

    private static ListKeys limited(ListKeys query) {
        boolean fits = query.limit() >= 0 && query.limit() <= LONGEST_PAGE;
        return fits
                ? query
                : new ListKeys(query.prefix(), query.after(), LONGEST_PAGE, query.tenant());
    }
}
