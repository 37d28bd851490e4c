package io.cassia.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.ByteString;
import io.cassia.master.core.Command;
import io.cassia.master.core.TenantToll;
import io.cassia.rpc.cassia.CassiaMessages.TenantQuota;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;

/**
 * Guarded. Quotas and what they cost, by tenant, under upstream's names (spec mooncake-store 12.4).
 * The core limits the number of tenants, and with it that of series.
 */
final class TenantMetrics {
    private final MasterLoop loop;
    private final MeterRegistry meters;
    private final MultiGauge requested;
    private final MultiGauge effective;
    private final MultiGauge charged;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Map<ByteString, AtomicLong> refused = new HashMap<>();

    @GuardedBy("lock")
    private final Map<ByteString, AtomicLong> evicted = new HashMap<>();

    TenantMetrics(MasterLoop loop, MeterRegistry meters) {
        this.loop = loop;
        this.meters = meters;
        requested = gauge("requested_quota_bytes", "Quota of a tenant as registered");
        effective = gauge("effective_quota_bytes", "Its share while quotas exceed the capacity");
        charged = gauge("charged_bytes", "Memory of a tenant's replicas");
    }

    private MultiGauge gauge(String name, String description) {
        return MultiGauge.builder("mooncake_tenant_" + name)
                .description(description)
                .register(meters);
    }

    /** Brings the figures up to date; to be called before a scrape. */
    void refresh() {
        lock.lock();
        try {
            for (TenantToll toll : loop.tenantTolls()) {
                refused.computeIfAbsent(toll.tenant(), this::refusals).set(toll.refusedWrites());
                evicted.computeIfAbsent(toll.tenant(), this::evictions).set(toll.evictedBytes());
            }
            if (loop.apply(new Command.TenantQuotas(ByteString.EMPTY))
                    instanceof Outcome.Ok<List<TenantQuota>>(List<TenantQuota> quotas)) {
                show(requested, quotas, TenantQuota::requestedBytes);
                show(effective, quotas, TenantQuota::effectiveBytes);
                show(charged, quotas, TenantQuota::chargedBytes);
            }
        } finally {
            lock.unlock();
        }
    }

    private AtomicLong refusals(ByteString tenant) {
        AtomicLong count = new AtomicLong();
        FunctionCounter.builder("mooncake_tenant_quota_reject_total", count, AtomicLong::get)
                .description("Writes that a tenant's quota refused")
                .tag("tenant_id", tenant.text())
                .tag("reason", "quota_exceeded")
                .register(meters);
        return count;
    }

    private AtomicLong evictions(ByteString tenant) {
        AtomicLong count = new AtomicLong();
        FunctionCounter.builder("mooncake_tenant_evict_bytes_total", count, AtomicLong::get)
                .description("Bytes of a tenant's objects evicted for its own writes")
                .tag("tenant_id", tenant.text())
                .register(meters);
        return count;
    }

    private static void show(
            MultiGauge gauge, List<TenantQuota> quotas, ToLongFunction<TenantQuota> figure) {
        gauge.register(
                quotas.stream()
                        .<MultiGauge.Row<?>>map(
                                quota ->
                                        MultiGauge.Row.of(
                                                Tags.of("tenant_id", quota.tenant().text()),
                                                figure.applyAsLong(quota)))
                        .toList(),
                true);
    }
}
