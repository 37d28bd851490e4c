package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.B;
import static io.cassia.master.core.Harness.KIB;
import static io.cassia.master.core.Harness.MIB;
import static io.cassia.master.core.Harness.code;
import static io.cassia.master.core.Harness.detail;
import static io.cassia.master.core.Harness.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.status.StoreCode;
import io.cassia.testkit.Seeds;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EvictionTest {
    private Harness master = new Harness();

    @AfterEach
    void verify() {
        CoreChecks.verify(master.core);
    }

    private void mount(long size) {
        master.mount(A, 11, "node-a:1", size);
    }

    private boolean isThere(String key) {
        return master.core.state().objects.find(0, key.getBytes(StandardCharsets.UTF_8)) != 0;
    }

    private List<String> there(String... keys) {
        List<String> found = new ArrayList<>();
        for (String key : keys) {
            if (isThere(key)) {
                found.add(key);
            }
        }
        return found;
    }

    /** Puts, waits until no lease is left, and takes the clock along. */
    private void letLeasesEnd() {
        master.run(Duration.ofSeconds(11), A, B);
    }

    @Test
    void a_put_that_needs_room_evicts_the_least_recently_used() {
        mount(4 * MIB);
        for (String key : List.of("a", "b", "c", "d")) {
            master.put(key, MIB);
        }
        ok(master.get("a"));
        letLeasesEnd();
        master.put("e", MIB);
        assertThat(there("a", "b", "c", "d", "e")).containsExactly("a", "c", "d", "e");
        master.put("f", 2 * MIB);
        assertThat(there("a", "c", "d", "e", "f")).containsExactly("a", "e", "f");
        assertThat(master.stats().evictedObjects()).isEqualTo(3);
        assertThat(master.stats().evictedBytes()).isEqualTo(3 * MIB);
    }

    @Test
    void an_object_that_was_never_read_is_not_evicted_before_an_older_read_one() {
        mount(2 * MIB);
        master.put("read", MIB);
        ok(master.get("read"));
        letLeasesEnd();
        master.put("fresh", MIB);
        master.put("next", MIB);
        assertThat(there("read", "fresh", "next")).containsExactly("fresh", "next");
    }

    @Test
    void a_read_lease_is_never_overridden() {
        mount(2 * MIB);
        master.put("a", MIB);
        master.put("b", MIB);
        ok(master.get("a"));
        master.put("c", MIB);
        assertThat(there("a", "b", "c")).containsExactly("a", "c");
        ok(master.get("c"));
        assertThat(detail(master.start(A, "d", MIB))).contains("leased=2097152");
        letLeasesEnd();
        master.put("d", MIB);
        assertThat(there("a", "c", "d")).containsExactly("c", "d");
    }

    @Test
    void a_counted_lease_is_never_overridden() {
        mount(2 * MIB);
        master.put("a", MIB);
        master.put("b", MIB);
        long lease = master.acquire(false, 0, "a", "b").leaseId();
        assertThat(code(master.start(A, "c", MIB))).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        master.release(lease);
        master.put("c", MIB);
        assertThat(there("a", "b", "c")).containsExactly("b", "c");
    }

    @Test
    void asking_for_the_existence_of_all_keys_does_not_stop_puts() {
        mount(4 * MIB);
        for (String key : List.of("a", "b", "c", "d")) {
            master.put(key, MIB);
        }
        for (String key : List.of("c", "a", "b", "d")) {
            ok(master.exist(key));
        }
        // All are leased by exists alone: the least recently used goes, though it is leased.
        master.put("e", MIB);
        assertThat(there("a", "b", "c", "d", "e")).containsExactly("b", "c", "d", "e");
        // Objects without any lease go first.
        master.put("f", MIB);
        assertThat(there("b", "c", "d", "e", "f")).containsExactly("b", "c", "d", "f");
    }

    @Test
    void a_put_looks_at_a_bounded_number_of_protected_objects() {
        mount(20_000);
        for (int i = 0; i < 20_000; i++) {
            master.put("k" + i, 1);
            ok(master.exist("k" + i));
        }
        master.put("l", 1);
        assertThat(isThere("k0")).isFalse();
        int parked = 0;
        RecencyLists recency = master.core.state().recency;
        for (int slot = recency.head(RecencyLists.PARKED_LEASED);
                slot != 0;
                slot = master.core.state().objects.next(slot)) {
            parked++;
        }
        assertThat(parked).isBetween(4000, 4100);
    }

    @Test
    void an_exist_is_no_use_in_the_order_of_eviction() {
        mount(2 * MIB);
        master.put("a", MIB);
        master.put("b", MIB);
        ok(master.exist("a"));
        letLeasesEnd();
        master.put("c", MIB);
        assertThat(there("a", "b", "c")).containsExactly("b", "c");
    }

    @Test
    void a_parked_object_is_the_first_to_go_when_its_protection_is_over() {
        mount(3 * MIB);
        master.put("a", MIB);
        master.put("b", MIB);
        master.put("c", MIB);
        ok(master.exist("a"));
        master.put("d", MIB);
        assertThat(there("a", "b", "c", "d")).containsExactly("a", "c", "d");
        letLeasesEnd();
        master.put("e", MIB);
        assertThat(there("a", "c", "d", "e")).containsExactly("c", "d", "e");
    }

    @Test
    void a_soft_pinned_object_goes_last_and_only_if_allowed() {
        mount(2 * MIB);
        master.put("pinned", MIB, Harness.softPinned(60_000));
        master.put("a", MIB);
        master.put("b", MIB);
        assertThat(there("pinned", "a", "b")).containsExactly("pinned", "b");
        master.put("c", 2 * MIB);
        assertThat(there("pinned", "b", "c")).containsExactly("c");

        master =
                new Harness(
                        settings -> {
                            settings.evictSoftPinned = false;
                            return settings;
                        });
        mount(2 * MIB);
        master.put("pinned", MIB, Harness.softPinned(60_000));
        assertThat(code(master.start(A, "c", 2 * MIB))).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(there("pinned")).containsExactly("pinned");
        master.run(Duration.ofSeconds(60), A);
        master.put("c", 2 * MIB);
        assertThat(there("pinned", "c")).containsExactly("c");
    }

    @Test
    void a_hard_pinned_object_is_never_evicted() {
        mount(2 * MIB);
        master.put("pinned", MIB, Harness.hardPinned());
        for (int i = 0; i < 10; i++) {
            master.put("k" + i, MIB);
        }
        assertThat(there("pinned", "k8", "k9")).containsExactly("pinned", "k9");
        assertThat(code(master.start(A, "big", 2 * MIB))).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(there("k9")).as("nothing is thrown away in vain").containsExactly("k9");
    }

    @Test
    void a_put_in_flight_is_never_evicted() {
        mount(2 * MIB);
        ok(master.start(A, "flight", MIB));
        master.put("a", MIB);
        master.put("b", MIB);
        ok(master.end(A, "flight"));
        assertThat(there("flight", "a", "b")).containsExactly("flight", "b");
    }

    @Test
    void what_can_never_fit_evicts_nothing() {
        mount(4 * MIB);
        master.put("a", MIB);
        assertThat(code(master.start(A, "huge", 4 * MIB + 1)))
                .isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        ok(master.get("a"));
        assertThat(code(master.start(A, "whole", 4 * MIB)))
                .isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(master.stats().evictedObjects()).isZero();
    }

    @Test
    void a_large_object_does_not_cost_a_pool_of_small_ones() {
        mount(64 * MIB);
        for (int i = 0; i < 16 * 1024; i++) {
            master.put("s" + i, 4 * KIB);
        }
        // Uses in an order that has nothing to do with places.
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < 16 * 1024; i++) {
            ok(master.get("s" + random.nextInt(16 * 1024)));
        }
        letLeasesEnd();
        master.put("large", 8 * MIB);
        assertThat(master.stats().evictedBytes()).isLessThan(8 * MIB + 2 * 8 * MIB);
        assertThat(isThere("large")).isTrue();
    }

    @Test
    void replicas_evict_on_their_own_segments() {
        mount(2 * MIB);
        master.mount(B, 13, "node-b:1", 2 * MIB);
        for (int i = 0; i < 20; i++) {
            master.put("k" + i, MIB, Harness.replicas(2));
        }
        assertThat(ok(master.get("k19")).replicas()).hasSize(2);
        assertThat(master.stats().usedBytes()).isEqualTo(4 * MIB);
        assertThat(master.core.counters().of(CoreCount.PUT_PARTIAL_ALLOCATIONS)).isZero();
    }

    @Test
    void a_victim_on_a_segment_that_cannot_serve_is_left_alone() {
        mount(MIB);
        master.mount(B, 13, "node-b:1", 4 * MIB);
        master.put("small", MIB, Harness.config(1, 0, OptionalLong.empty(), false, "node-a:1"));
        master.put("big1", 2 * MIB, Harness.config(1, 0, OptionalLong.empty(), false, "node-b:1"));
        master.put("big2", 2 * MIB, Harness.config(1, 0, OptionalLong.empty(), false, "node-b:1"));
        master.put("big3", 2 * MIB);
        assertThat(there("small", "big1", "big2", "big3")).containsExactly("small", "big2", "big3");
    }

    @Test
    void above_the_watermark_eviction_goes_down_to_watermark_less_ratio() {
        master =
                new Harness(
                        settings -> {
                            settings.watermark = 0.9;
                            settings.ratio = 0.1;
                            return settings;
                        });
        mount(100 * KIB);
        for (int i = 0; i < 90; i++) {
            master.put("k" + i, KIB);
        }
        assertThat(master.stats().evictedObjects()).isZero();
        master.put("k90", KIB);
        assertThat(master.stats().usedBytes()).isEqualTo(80 * KIB);
        assertThat(there("k0", "k10", "k11", "k90")).containsExactly("k11", "k90");
    }

    @Test
    void an_eviction_above_the_watermark_goes_on_in_slices() {
        master =
                new Harness(
                        settings -> {
                            settings.watermark = 0.9;
                            settings.ratio = 0.1;
                            return settings;
                        });
        mount(1000 * KIB);
        for (int i = 0; i < 901; i++) {
            master.put("k" + i, KIB);
        }
        assertThat(master.stats().usedBytes()).isBetween(850 * KIB, 899 * KIB);
        master.run(Duration.ofMillis(100), A);
        assertThat(master.stats().usedBytes()).isEqualTo(800 * KIB);
    }

    @Test
    void the_watermark_respects_exist_leases() {
        master =
                new Harness(
                        settings -> {
                            settings.watermark = 0.5;
                            return settings;
                        });
        mount(100 * KIB);
        for (int i = 0; i < 50; i++) {
            master.put("k" + i, KIB);
            ok(master.exist("k" + i));
        }
        master.put("k50", KIB);
        master.run(Duration.ofSeconds(1), A);
        assertThat(master.stats().usedBytes()).isEqualTo(50 * KIB);
        letLeasesEnd();
        master.put("k51", KIB);
        assertThat(master.stats().usedBytes()).isEqualTo(45 * KIB);
    }

    @Test
    void a_replayed_trace_hits_exactly_as_plain_lru() {
        Seeds.forEach(
                5,
                seed -> {
                    SplittableRandom random = new SplittableRandom(seed);
                    int capacity = 50 + random.nextInt(100);
                    Harness store =
                            new Harness(
                                    settings -> {
                                        settings.lease = Duration.ofNanos(1);
                                        return settings;
                                    });
                    store.mount(A, 11, "node-a:1", capacity * KIB);
                    LruModel model = new LruModel(capacity);
                    for (int i = 0; i < 8000; i++) {
                        store.sleep(Duration.ofMillis(1));
                        String key = "k" + (int) (300 * Math.pow(random.nextDouble(), 2));
                        boolean hit = store.get(key).isOk();
                        assertThat(hit).as("request %d of %s", i, key).isEqualTo(model.use(key));
                        if (!hit) {
                            store.put(key, KIB);
                        }
                    }
                    CoreChecks.verify(store.core);
                });
    }

    private static final class LruModel extends LinkedHashMap<String, Boolean> {
        private static final long serialVersionUID = 1L;
        private final int capacity;

        LruModel(int capacity) {
            super(16, 0.75f, true);
            this.capacity = capacity;
        }

        /** Whether it was there; it is there afterwards. */
        boolean use(String key) {
            return put(key, true) != null;
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > capacity;
        }
    }

    @Test
    void the_order_survives_acquire_and_release() {
        mount(3 * MIB);
        master.put("a", MIB);
        master.put("b", MIB);
        master.put("c", MIB);
        master.release(master.acquire(false, 0, "a").leaseId());
        master.put("d", MIB);
        master.put("e", MIB);
        assertThat(there("a", "b", "c", "d", "e")).containsExactly("a", "d", "e");
    }

    @Test
    void tenants_share_one_order() {
        master =
                new Harness(
                        settings -> {
                            settings.multiTenant = true;
                            return settings;
                        });
        mount(2 * MIB);
        master.quota("default", MIB);
        master.quota("other", MIB);
        master.put("a", MIB);
        ByteString other = ByteString.of("other");
        ok(
                master.apply(
                        new Command.PutStart(
                                new Args.PutStart(
                                        A,
                                        Harness.key("a"),
                                        MIB,
                                        ReplicateConfig.DEFAULT,
                                        other))));
        assertThat(isThere("a")).isTrue();
        master.put("b", MIB);
        assertThat(isThere("a")).isFalse();
    }

    @Test
    void asking_for_a_soft_pinned_object_does_not_take_its_pin_away() {
        master =
                new Harness(
                        settings -> {
                            settings.evictSoftPinned = false;
                            return settings;
                        });
        mount(2 * MIB);
        master.put("pinned", MIB, Harness.softPinned(60_000));
        assertThat(ok(master.exist("pinned"))).isTrue();
        master.put("other", MIB);
        // A run of the evictor sets aside what is asked for; the next one goes through those.
        ok(master.start(A, "third", MIB));
        assertThat(code(master.start(A, "fourth", MIB))).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(ok(master.exist("pinned"))).isTrue();
    }
}
