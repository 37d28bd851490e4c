package io.cassia.datadist.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.Expect;
import io.cassia.datadist.ManualClock;
import io.cassia.datadist.Seeded;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class CacheTableTest {
    private static final TensorSelection ALL = new TensorSelection(0, 4);

    private final ManualClock clock = new ManualClock();
    private final CacheTable table = new CacheTable(clock);
    private final List<Long> freed = new ArrayList<>();

    @Test
    void numbers_begin_at_one_and_grow() {
        assertThat(add().cacheId()).isEqualTo(1);
        long second = add().cacheId();
        assertThat(second).isEqualTo(2);
        Expect.ok(table.deallocate(second));
        assertThat(add().cacheId()).isEqualTo(3);
    }

    @Test
    void memory_without_keys_goes_when_the_number_does() {
        Cache cache = add();
        Expect.ok(table.deallocate(cache.cacheId()));
        assertThat(freed).containsExactly(cache.cacheId());
        Expect.failed(table.deallocate(cache.cacheId()), LlmStatus.LLM_KV_CACHE_NOT_EXIST);
    }

    @Test
    void keys_keep_the_memory_of_a_deallocated_cache() {
        Cache cache = add(CacheKey.request(0, 7), CacheKey.placeholder(), CacheKey.request(0, 8));
        Expect.ok(table.deallocate(cache.cacheId()));
        assertThat(freed).isEmpty();
        Expect.failed(table.pin(cache.cacheId()), LlmStatus.LLM_KV_CACHE_NOT_EXIST);
        table.removeKey(CacheKey.request(99, 7));
        assertThat(freed).isEmpty();
        Expect.ok(consume(CacheKey.request(99, 8), ALL));
        assertThat(freed).containsExactly(cache.cacheId());
    }

    @Test
    void a_request_key_is_consumed_once() {
        Cache _ = add(CacheKey.request(0, 7));
        Expect.ok(consume(CacheKey.request(1, 7), ALL));
        Expect.failed(table.pin(CacheKey.request(1, 7)), LlmStatus.LLM_KV_CACHE_NOT_EXIST);
    }

    @Test
    void of_two_pulls_under_way_one_consumes_the_key() {
        Cache _ = add(CacheKey.request(0, 7));
        Pin first = table.pin(CacheKey.request(1, 7)).orThrow();
        Pin second = table.pin(CacheKey.request(1, 7)).orThrow();
        Expect.ok(table.consume(first, ALL));
        Expect.failed(table.consume(second, ALL), LlmStatus.LLM_KV_CACHE_NOT_EXIST);
        first.close();
        second.close();
    }

    @Test
    void a_pull_by_number_consumes_the_key_of_its_batch() {
        Cache cache = add(CacheKey.request(0, 7), CacheKey.request(0, 8));
        try (Pin pin = table.pin(new CacheIndex(1, cache.cacheId(), 1)).orThrow()) {
            assertThat(pin.holdsKey()).isTrue();
            Expect.ok(table.consume(pin, ALL));
        }
        assertThat(table.exists(CacheKey.request(1, 7))).isTrue();
        assertThat(table.exists(CacheKey.request(1, 8))).isFalse();
    }

    @Test
    void prefix_keys_are_not_consumed() {
        Cache cache = add(CacheKey.prefix(0, 3));
        for (int i = 0; i < 2; i++) {
            Expect.ok(consume(CacheKey.prefix(1, 3), ALL));
            try (Pin pin = table.pin(new CacheIndex(1, cache.cacheId())).orThrow()) {
                assertThat(pin.holdsKey()).isFalse();
            }
        }
        table.removeKey(CacheKey.prefix(1, 3));
        Expect.failed(table.pin(CacheKey.prefix(1, 3)), LlmStatus.LLM_KV_CACHE_NOT_EXIST);
    }

    @Test
    void request_and_prefix_numbers_are_different_spaces() {
        Cache _ = add(CacheKey.request(0, 5));
        Expect.failed(table.pin(CacheKey.prefix(1, 5)), LlmStatus.LLM_KV_CACHE_NOT_EXIST);
        Expect.failed(
                table.pin(new CacheKey(1, 5, 9, CacheKey.NONE)), LlmStatus.LLM_KV_CACHE_NOT_EXIST);
    }

    @Test
    void a_key_pulled_layer_by_layer_goes_with_its_last_layer() {
        Cache cache = add(CacheKey.request(0, 7));
        Expect.ok(table.deallocate(cache.cacheId()));
        Expect.ok(consume(CacheKey.request(1, 7), new TensorSelection(0, 2)));
        Expect.ok(consume(CacheKey.request(1, 7), new TensorSelection(0, 2)));
        assertThat(table.keys().getFirst().remainingTensors()).isEqualTo(2);
        assertThat(freed).isEmpty();
        Expect.ok(consume(CacheKey.request(1, 7), new TensorSelection(2, 2)));
        assertThat(freed).containsExactly(cache.cacheId());
    }

    @Test
    void a_transfer_keeps_the_memory_of_a_cache_that_lost_everything_else() {
        Cache cache = add(CacheKey.request(0, 7));
        Pin pin = table.pin(CacheKey.request(1, 7)).orThrow();
        Expect.ok(table.deallocate(cache.cacheId()));
        table.removeKey(CacheKey.request(0, 7));
        assertThat(freed).isEmpty();
        pin.close();
        pin.close();
        assertThat(freed).containsExactly(cache.cacheId());
    }

    @Test
    void a_block_cache_goes_with_its_number_and_drops_its_name() {
        Cache cache = table.add(blocks(new BlocksCacheKey(0, 4))).orThrow();
        assertThat(table.exists(new BlocksCacheKey(9, 4))).isTrue();
        Expect.ok(table.deallocate(cache.cacheId()));
        assertThat(freed).containsExactly(cache.cacheId());
        Expect.failed(table.pin(new BlocksCacheKey(9, 4)), LlmStatus.LLM_KV_CACHE_NOT_EXIST);
    }

    @Test
    void a_key_that_names_a_live_cache_is_refused() {
        Cache _ = add(CacheKey.request(0, 7));
        Expect.failed(
                table.add(cache(CacheOrigin.ALLOCATED, CacheKey.request(3, 7))),
                LlmStatus.LLM_PARAM_INVALID);
        assertThat(table.add(blocks(new BlocksCacheKey(0, 4))).isOk()).isTrue();
        Expect.failed(table.add(blocks(new BlocksCacheKey(1, 4))), LlmStatus.LLM_PARAM_INVALID);
        Expect.ok(consume(CacheKey.request(1, 7), ALL));
        assertThat(table.add(cache(CacheOrigin.ALLOCATED, CacheKey.request(3, 7))).isOk()).isTrue();
    }

    @Test
    void keys_are_unique_in_a_call_and_not_more_than_batches() {
        Expect.failed(
                table.add(
                        cache(
                                CacheOrigin.ALLOCATED,
                                CacheKey.request(0, 7),
                                CacheKey.request(1, 7))),
                LlmStatus.LLM_PARAM_INVALID);
        CacheKey none = CacheKey.placeholder();
        assertThat(table.add(cache(CacheOrigin.ALLOCATED, none, none, none, none)).isOk()).isTrue();
        Expect.failed(
                table.add(cache(CacheOrigin.ALLOCATED, none, none, none, none, none)),
                LlmStatus.LLM_PARAM_INVALID);
        Expect.failed(
                table.add(cache(CacheOrigin.ALLOCATED, new CacheKey(0, 1, 0, 2))),
                LlmStatus.LLM_PARAM_INVALID);
    }

    @Test
    void a_batch_that_the_cache_lacks_does_not_exist() {
        Cache cache = add();
        assertThat(table.pin(new CacheIndex(1, cache.cacheId(), 3)).isOk()).isTrue();
        Expect.failed(
                table.pin(new CacheIndex(1, cache.cacheId(), 4)), LlmStatus.LLM_KV_CACHE_NOT_EXIST);
        Expect.failed(
                table.pin(new CacheIndex(1, cache.cacheId(), -1)),
                LlmStatus.LLM_KV_CACHE_NOT_EXIST);
    }

    @Test
    void registered_memory_is_not_given_back_by_pulls() {
        Cache cache = table.add(cache(CacheOrigin.REGISTERED, CacheKey.request(0, 7))).orThrow();
        Expect.ok(consume(CacheKey.request(1, 7), ALL));
        assertThat(freed).isEmpty();
        assertThat(table.pin(new CacheIndex(1, cache.cacheId())).isOk()).isTrue();
        Expect.failed(table.deallocate(cache.cacheId()), LlmStatus.LLM_PARAM_INVALID);
    }

    @Test
    void registered_memory_in_use_stays_registered() {
        Cache cache = table.add(cache(CacheOrigin.REGISTERED)).orThrow();
        Pin pin = table.pin(cache.cacheId()).orThrow();
        Expect.failed(
                table.unregister(cache.cacheId(), clock.nanos()), LlmStatus.LLM_WAIT_PROC_TIMEOUT);
        assertThat(table.pin(cache.cacheId()).map(Pin::cacheId).orThrow())
                .isEqualTo(cache.cacheId());
        assertThat(freed).isEmpty();
        assertThat(table.caches().getFirst().pins()).isEqualTo(2);
        pin.close();
    }

    @Test
    void memory_that_somebody_does_not_let_go_of_stays_registered() {
        Cache cache = table.add(cache(CacheOrigin.REGISTERED, CacheKey.request(0, 7))).orThrow();
        stubborn = true;
        Expect.failed(
                table.unregister(cache.cacheId(), clock.nanos()),
                LlmStatus.LLM_WAIT_PROC_TIMEOUT,
                "stays registered",
                "a stopped reader");
        assertThat(table.exists(CacheKey.request(0, 7))).isTrue();
        assertThat(table.pin(cache.cacheId()).isOk()).isTrue();
        stubborn = false;
        Expect.failed(
                table.unregister(cache.cacheId(), clock.nanos()),
                LlmStatus.LLM_WAIT_PROC_TIMEOUT,
                "in use by 1 transfers");
        table.clear();
        assertThat(freed).containsExactly(cache.cacheId());
    }

    @Test
    void unregistering_ends_keys_and_number_and_the_unknown_is_fine() {
        Cache cache = table.add(cache(CacheOrigin.REGISTERED, CacheKey.request(0, 7))).orThrow();
        Expect.ok(table.unregister(cache.cacheId(), clock.nanos()));
        assertThat(freed).containsExactly(cache.cacheId());
        assertThat(table.exists(CacheKey.request(0, 7))).isFalse();
        Expect.ok(table.unregister(cache.cacheId(), clock.nanos()));
        Expect.failed(
                table.unregister(add().cacheId(), clock.nanos()), LlmStatus.LLM_PARAM_INVALID);
    }

    @Test
    void old_keys_expire_unless_a_transfer_holds_them() {
        Cache _ = add(CacheKey.request(0, 1));
        clock.advance(Duration.ofSeconds(1));
        Cache _ = add(CacheKey.request(0, 2));
        Pin pin = table.pin(CacheKey.request(0, 1)).orThrow();
        clock.advance(Duration.ofSeconds(1));
        assertThat(table.expireKeys(Duration.ofSeconds(2).toNanos())).isZero();
        pin.close();
        assertThat(table.expireKeys(Duration.ofSeconds(2).toNanos())).isEqualTo(1);
        assertThat(table.exists(CacheKey.request(0, 1))).isFalse();
        assertThat(table.exists(CacheKey.request(0, 2))).isTrue();
    }

    @Test
    void ranges_are_found_inside_one_cache_only() {
        Cache first = add();
        Cache second = add();
        long a = first.tensors().get(1).address();
        long b = second.tensors().get(0).address();
        try (Pin pin = table.pinRanges(List.of(a, a + 16), 16).orThrow()) {
            assertThat(pin.cacheId()).isEqualTo(first.cacheId());
        }
        Expect.failed(table.pinRanges(List.of(a, b), 16), LlmStatus.LLM_PARAM_INVALID);
        Expect.failed(table.pinRanges(List.of(a + 1), 64), LlmStatus.LLM_PARAM_INVALID);
        Expect.failed(table.pinRanges(List.of(8L), 1), LlmStatus.LLM_PARAM_INVALID);
        Expect.ok(table.deallocate(first.cacheId()));
        Expect.failed(table.pinRanges(List.of(a), 16), LlmStatus.LLM_PARAM_INVALID);
    }

    /** Invariants 4 and 5 on the table alone: against a model that counts references by hand. */
    @Test
    void memory_is_given_back_exactly_when_nothing_refers_to_it() {
        Seeded.check(200, CacheTableTest::againstModel);
    }

    private static final class Model {
        boolean number = true;
        int pins;
        final List<Long> keys = new ArrayList<>();

        boolean live() {
            return number || pins > 0 || !keys.isEmpty();
        }
    }

    private static void againstModel(SplittableRandom random) {
        CacheTableTest test = new CacheTableTest();
        Map<Long, Model> models = new HashMap<>();
        List<Pin> pins = new ArrayList<>();
        long nextKey = 0;
        for (int step = 0; step < 60; step++) {
            switch (random.nextInt(5)) {
                case 0 -> {
                    CacheKey[] keys = new CacheKey[random.nextInt(4)];
                    Model model = new Model();
                    for (int i = 0; i < keys.length; i++) {
                        model.keys.add(nextKey);
                        keys[i] = CacheKey.request(0, nextKey++);
                    }
                    models.put(test.add(keys).cacheId(), model);
                }
                case 1 -> {
                    long id = random.nextLong(1, 9);
                    Model model = models.get(id);
                    boolean ok = test.table.deallocate(id).isOk();
                    assertThat(ok).isEqualTo(model != null && model.number);
                    if (ok && model != null) {
                        model.number = false;
                    }
                }
                case 2 -> {
                    long id = random.nextLong(1, 9);
                    if (test.table.pin(id) instanceof Outcome.Ok<Pin>(Pin pin)) {
                        require(models, id).pins++;
                        pins.add(pin);
                    }
                }
                case 3 -> {
                    if (!pins.isEmpty()) {
                        Pin pin = pins.remove(random.nextInt(pins.size()));
                        require(models, pin.cacheId()).pins--;
                        pin.close();
                    }
                }
                default -> {
                    long key = random.nextLong(Math.max(1, nextKey));
                    boolean bound = models.values().stream().anyMatch(m -> m.keys.contains(key));
                    assertThat(test.table.exists(CacheKey.request(0, key))).isEqualTo(bound);
                    if (bound && random.nextBoolean()) {
                        Expect.ok(test.consume(CacheKey.request(0, key), ALL));
                    } else {
                        test.table.removeKey(CacheKey.request(0, key));
                    }
                    models.values().forEach(m -> m.keys.removeIf(k -> k == key));
                }
            }
            models.forEach(
                    (id, model) -> assertThat(test.freed.contains(id)).isEqualTo(!model.live()));
            assertThat(test.freed).doesNotHaveDuplicates();
        }
    }

    private static Model require(Map<Long, Model> models, long id) {
        return Objects.requireNonNull(models.get(id));
    }

    private Outcome<Done> consume(CacheKey key, TensorSelection tensors) {
        try (Pin pin = table.pin(key).orThrow()) {
            return table.consume(pin, tensors);
        }
    }

    private Cache add(CacheKey... keys) {
        return table.add(cache(CacheOrigin.ALLOCATED, keys)).orThrow();
    }

    private NewCache cache(CacheOrigin origin, CacheKey... keys) {
        return draft(origin, false, List.of(keys), Optional.empty());
    }

    private NewCache blocks(BlocksCacheKey key) {
        return draft(CacheOrigin.ALLOCATED, true, List.of(), Optional.of(key));
    }

    private NewCache draft(
            CacheOrigin origin,
            boolean blocks,
            List<CacheKey> keys,
            Optional<BlocksCacheKey> blocksKey) {
        CacheDesc desc = CacheDesc.device(4, DataType.INT32, 4, 4);
        Geometry geometry = desc.geometry().orThrow();
        List<MemorySegment> tensors = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            tensors.add(Arena.ofAuto().allocate(geometry.tensorBytes(), 8));
        }
        long[] id = {0};
        NewCache draft =
                new NewCache(
                        desc,
                        geometry,
                        origin,
                        blocks,
                        tensors,
                        keys,
                        blocksKey,
                        () -> {
                            if (stubborn) {
                                return Outcome.failed(
                                        LlmStatus.LLM_WAIT_PROC_TIMEOUT, "a stopped reader");
                            }
                            freed.add(id[0]);
                            return Outcome.done();
                        });
        id[0] = table.caches().stream().mapToLong(CacheInfo::cacheId).max().orElse(0) + 1;
        id[0] = Math.max(id[0], ++made);
        return draft;
    }

    /** Whether memory is not let go of. */
    private boolean stubborn;

    /** Numbers handed out so far; a refused cache takes none. */
    private long made;
}
