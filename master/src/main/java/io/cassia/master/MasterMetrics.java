package io.cassia.master;

import io.cassia.base.Clock;
import io.cassia.master.core.Command;
import io.cassia.master.core.CoreCount;
import io.cassia.rpc.cassia.CassiaMessages.SegmentStats;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Thread-safe. The pool as gauges and counters under upstream's names (spec mooncake-store 12.4).
 * Upstream's counters whose names do not end in {@code _total} are gauges here, because counters
 * get that ending.
 */
final class MasterMetrics {
    /** A reading serves all gauges of one scrape. */
    private static final long MAX_AGE_NANOS = Duration.ofMillis(50).toNanos();

    private record Reading(Stats stats, long atNanos) {}

    private final MasterLoop loop;
    private final Clock clock;
    private final TenantMetrics tenants;
    private final MultiGauge segmentUsed;
    private final MultiGauge segmentCapacity;
    private volatile @Nullable Reading reading;

    MasterMetrics(MasterLoop loop, Clock clock, MeterRegistry meters) {
        this.loop = loop;
        this.clock = clock;
        tenants = new TenantMetrics(loop, meters);
        gauges(meters);
        counts(meters);
        segmentUsed =
                MultiGauge.builder("segment_allocated_bytes")
                        .description("Bytes allocated, by segment name")
                        .register(meters);
        segmentCapacity =
                MultiGauge.builder("segment_total_capacity_bytes")
                        .description("Bytes mounted, by segment name")
                        .register(meters);
    }

    private void gauges(MeterRegistry meters) {
        gauge(meters, "master_allocated_bytes", "Bytes allocated", Stats::usedBytes);
        gauge(meters, "master_total_capacity_bytes", "Bytes mounted", Stats::capacityBytes);
        gauge(meters, "master_key_count", "Objects", Stats::objects);
        gauge(meters, "mem_cache_nums_", "Objects in memory", Stats::objects);
        gauge(meters, "master_active_clients", "Clients that are OK", Stats::clients);
        gauge(meters, "master_largest_free_bytes", "Largest free block", Stats::largestFreeBytes);
        gauge(meters, "master_leased_bytes", "Bytes under leases", Stats::leasedBytes);
        gauge(meters, "master_pinned_bytes", "Bytes under hard pins", Stats::pinnedBytes);
        gauge(meters, "master_evicted_key_count", "Objects evicted", Stats::evictedObjects);
        gauge(meters, "master_evicted_size_bytes", "Bytes evicted", Stats::evictedBytes);
        gauge(meters, "master_evicted_key_count_mem", "Objects evicted", Stats::evictedObjects);
        gauge(meters, "master_evicted_size_bytes_mem", "Bytes evicted", Stats::evictedBytes);
        countGauge(meters, "valid_get_nums_", CoreCount.GET_HITS);
        countGauge(meters, "mem_cache_hit_nums_", CoreCount.GET_HITS);
        countGauge(meters, "total_get_nums_", CoreCount.GETS);
        countGauge(meters, "master_successful_evictions_mem", CoreCount.EVICTIONS_SUCCESSFUL);
        countGauge(meters, "master_attempted_evictions_mem", CoreCount.EVICTIONS_ATTEMPTED);
        countGauge(meters, "master_put_start_discard_cnt", CoreCount.PUT_DISCARDED);
        countGauge(meters, "master_put_start_release_cnt", CoreCount.PUT_RELEASED);
        Gauge.builder("master_put_start_discarded_staging_size", loop, MasterLoop::discardedBytes)
                .description("Bytes that wait until nobody can be reading or writing them")
                .register(meters);
        Gauge.builder("master_metadata_bytes", loop, MasterLoop::metadataBytes)
                .description("Estimated heap bytes of the objects")
                .register(meters);
    }

    private void counts(MeterRegistry meters) {
        counter(
                meters,
                "master_put_start_alloc_failures_total",
                "Puts that found no space",
                CoreCount.PUT_ALLOCATION_FAILURES);
        counter(
                meters,
                "master_put_start_partial_allocations_total",
                "Puts that got fewer replicas than wanted",
                CoreCount.PUT_PARTIAL_ALLOCATIONS);
        counter(
                meters,
                "master_attempted_evictions_total",
                "Runs of an eviction",
                CoreCount.EVICTIONS_ATTEMPTED);
        counter(
                meters,
                "master_successful_evictions_total",
                "Runs of an eviction that freed something",
                CoreCount.EVICTIONS_SUCCESSFUL);
        counter(
                meters,
                "master_fruitless_evictions_total",
                "Runs of an eviction that freed too little",
                CoreCount.EVICTIONS_FRUITLESS);
        counter(
                meters,
                "mem_cache_hit_bytes_total",
                "Bytes of objects that reads found",
                CoreCount.GET_HIT_BYTES);
        counter(
                meters,
                "master_suspected_clients_total",
                "Clients that fell silent, whose data was kept for the time being",
                CoreCount.CLIENTS_SUSPECTED);
        counter(
                meters,
                "master_replications_done_total",
                "Copies and moves that ended well",
                CoreCount.REPLICATIONS_DONE);
        counter(
                meters,
                "master_replications_dropped_total",
                "Copies and moves that did not end in time, or whose client died",
                CoreCount.REPLICATIONS_DROPPED);
        counter(
                meters,
                "master_timed_out_tasks_total",
                "Tasks that nobody fetched or ended in time",
                CoreCount.TASKS_TIMED_OUT);
        counter(
                meters,
                "master_pruned_tasks_total",
                "Ended tasks that were forgotten",
                CoreCount.TASKS_PRUNED);
        counter(
                meters,
                "master_expired_clients_total",
                "Clients that did not ping in time",
                CoreCount.CLIENTS_EXPIRED);
        counter(
                meters,
                "master_expired_leases_total",
                "Counted leases that ran out without a release",
                CoreCount.LEASES_EXPIRED);
        counter(
                meters,
                "master_foreign_unmounts_total",
                "Segments unmounted by another client than their owner",
                CoreCount.FOREIGN_UNMOUNTS);
        FunctionCounter.builder(
                        "master_stalled_seconds_total",
                        loop,
                        at -> at.count(CoreCount.STALLED_NANOS) / 1e9)
                .description("How late the timer was in all")
                .register(meters);
    }

    private void gauge(
            MeterRegistry meters, String name, String description, ToDoubleFunction<Stats> value) {
        Gauge.builder(name, this, at -> value.applyAsDouble(at.stats()))
                .description(description)
                .register(meters);
    }

    private void countGauge(MeterRegistry meters, String name, CoreCount count) {
        Gauge.builder(name, loop, at -> at.count(count))
                .description("Count since the start")
                .register(meters);
    }

    private void counter(MeterRegistry meters, String name, String description, CoreCount count) {
        FunctionCounter.builder(name, loop, at -> at.count(count))
                .description(description)
                .register(meters);
    }

    private Stats stats() {
        Reading last = reading;
        long now = clock.nanos();
        if (last == null || now - last.atNanos > MAX_AGE_NANOS) {
            last = new Reading(loop.apply(new Command.Stats()), now);
            reading = last;
        }
        return last.stats;
    }

    /** Brings what is per segment and tenant up to date; to be called before a scrape. */
    void refresh() {
        refreshSegments();
        tenants.refresh();
    }

    private void refreshSegments() {
        List<MultiGauge.Row<?>> used = new ArrayList<>();
        List<MultiGauge.Row<?>> capacity = new ArrayList<>();
        SegmentSums.byName(stats().segments())
                .forEach(
                        (name, sums) -> {
                            Tags tags = Tags.of("segment", name);
                            used.add(MultiGauge.Row.of(tags, sums.usedBytes()));
                            capacity.add(MultiGauge.Row.of(tags, sums.capacityBytes()));
                        });
        segmentUsed.register(used, true);
        segmentCapacity.register(capacity, true);
    }

    /** Segments of one name together. Immutable. */
    record SegmentSums(long usedBytes, long capacityBytes) {
        static SequencedMap<String, SegmentSums> byName(List<SegmentStats> segments) {
            SequencedMap<String, SegmentSums> sums = new LinkedHashMap<>();
            for (SegmentStats segment : segments) {
                sums.merge(
                        segment.name(),
                        new SegmentSums(segment.usedBytes(), segment.capacityBytes()),
                        (a, b) ->
                                new SegmentSums(
                                        a.usedBytes + b.usedBytes,
                                        a.capacityBytes + b.capacityBytes));
            }
            return sums;
        }
    }
}
