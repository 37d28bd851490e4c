package io.cassia.datadist;

import io.cassia.datadist.cache.Placement;
import io.cassia.datadist.link.LinkState;
import io.cassia.datadist.memory.PoolStats;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * What an instance holds at a moment, as gauges. Confined to the start and the end of the instance.
 *
 * <p>Names: {@code cassia.datadist.pool.used} and {@code .pool.total} in bytes by placement, {@code
 * cassia.datadist.link.count} by state, {@code cassia.datadist.caches}, {@code
 * cassia.datadist.keys}, {@code cassia.datadist.leases}.
 */
final class InstanceGauges implements AutoCloseable {
    private final MeterRegistry registry;
    private final List<Meter> meters = new ArrayList<>();

    InstanceGauges(MeterRegistry registry, long clusterId, Instance instance) {
        this.registry = registry;
        String cluster = Long.toUnsignedString(clusterId);
        for (Placement placement : Placement.values()) {
            String tag = placement.name().toLowerCase(Locale.ROOT);
            add("pool.used", cluster, "placement", tag, instance, i -> used(i, placement));
            add("pool.total", cluster, "placement", tag, instance, i -> total(i, placement));
        }
        for (LinkState state : LinkState.values()) {
            String tag = state.name().toLowerCase(Locale.ROOT);
            add("link.count", cluster, "state", tag, instance, i -> links(i, state));
        }
        add("caches", cluster, "kind", "all", instance, i -> i.caches().cacheCount());
        add("keys", cluster, "kind", "all", instance, i -> i.caches().keyCount());
        add("leases", cluster, "kind", "all", instance, i -> i.exchange().leases());
    }

    private void add(
            String name,
            String cluster,
            String key,
            String value,
            Instance instance,
            ToDoubleFunction<Instance> gauge) {
        meters.add(
                Gauge.builder("cassia.datadist." + name, instance, gauge)
                        .tag("cluster", cluster)
                        .tag(key, value)
                        .register(registry));
    }

    private static double used(Instance instance, Placement placement) {
        return instance.pools().stats(placement).map(PoolStats::usedBytes).orElse(0L);
    }

    private static double total(Instance instance, Placement placement) {
        return instance.pools().stats(placement).map(PoolStats::totalBytes).orElse(0L);
    }

    private static double links(Instance instance, LinkState state) {
        return instance.links().infos().stream().filter(link -> link.state() == state).count();
    }

    @Override
    public void close() {
        for (Meter meter : meters) {
            Meter ignored = registry.remove(meter);
        }
    }
}
