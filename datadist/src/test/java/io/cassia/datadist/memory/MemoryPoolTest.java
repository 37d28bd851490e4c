package io.cassia.datadist.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.Expect;
import io.cassia.datadist.Seeded;
import io.cassia.datadist.cache.Placement;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class MemoryPoolTest {
    private static final long MIB = 1 << 20;

    private final HeapPlane plane = new HeapPlane();

    @Test
    void tensors_are_aligned_and_as_long_as_asked() {
        MemoryPool pool = open(Placement.DEVICE, PoolConfig.ofBytes(MIB));
        Grant grant = pool.grant(3, 1000).orThrow();
        assertThat(grant.offsets()).containsExactly(0L, 1024L, 2048L);
        assertThat(grant.tensors()).allMatch(tensor -> tensor.byteSize() == 1000);
        assertThat(pool.stats()).isEqualTo(new PoolStats(MIB, 3072, MIB - 3072, 3));
        grant.release();
        assertThat(pool.stats()).isEqualTo(new PoolStats(MIB, 0, MIB, 0));
    }

    @Test
    void exhaustion_has_the_code_of_the_placement_and_tells_what_is_left() {
        MemoryPool device = open(Placement.DEVICE, PoolConfig.ofBytes(4096));
        MemoryPool host = open(Placement.HOST, PoolConfig.ofBytes(4096));
        Grant half = device.grant(1, 2048).orThrow();
        Expect.failed(
                device.grant(2, 2000),
                LlmStatus.LLM_DEVICE_OUT_OF_MEMORY,
                "used=2048",
                "free=2048",
                "total=4096",
                "index 1");
        assertThat(device.stats().usedBytes()).isEqualTo(2048);
        Expect.failed(host.grant(1, 4097), LlmStatus.LLM_OUT_OF_MEMORY, "largest=4096");
        half.release();
        assertThat(device.grant(2, 2000).isOk()).isTrue();
    }

    @Test
    void memory_that_cannot_be_had_is_out_of_memory() {
        plane.limitBytes = 100;
        Expect.failed(
                MemoryPool.open(Placement.DEVICE, PoolConfig.ofBytes(101).orThrow(), plane),
                LlmStatus.LLM_OUT_OF_MEMORY,
                "DEVICE pool of 101 bytes");
    }

    @Test
    void pages_round_grants_up() {
        MemoryPool pool = open(Placement.HOST, PoolConfig.paged(4 * 65536, 16));
        Grant one = pool.grant(4, 1).orThrow();
        assertThat(pool.stats().freeBytes()).isZero();
        one.release();
        assertThat(pool.grant(1, 4 * 65536).isOk()).isTrue();
    }

    @Test
    void small_grants_stay_in_their_class_until_it_is_full() {
        MemoryPool pool =
                open(
                        Placement.DEVICE,
                        PoolConfig.classes(
                                0,
                                List.of(
                                        new SizeClass(2 * MIB, 1024, 1024),
                                        new SizeClass(2 * MIB, 65536, MIB))));
        assertThat(pool.grant(1, 512).orThrow().offsets()).containsExactly(0L);
        assertThat(pool.grant(1, 1025).orThrow().offsets()).containsExactly(2 * MIB);
        Grant rest = pool.grant(2047, 1024).orThrow();
        assertThat(rest.offsets()).allMatch(offset -> offset < 2 * MIB);
        assertThat(pool.grant(1, 1024).orThrow().offsets()).allMatch(offset -> offset >= 2 * MIB);
        Expect.failed(
                pool.grant(1, MIB + 1), LlmStatus.LLM_DEVICE_OUT_OF_MEMORY, "largest=1048576");
    }

    @Test
    void what_exceeds_the_classes_comes_from_the_rest_of_the_pool() {
        MemoryPool pool =
                open(
                        Placement.DEVICE,
                        PoolConfig.classes(5 * MIB, List.of(new SizeClass(2 * MIB, 1024, 1024))));
        assertThat(pool.grant(1, 3 * MIB).orThrow().offsets()).containsExactly(2 * MIB);
        assertThat(pool.grant(1, 1025).isOk()).isFalse();
    }

    @Test
    void pools_open_when_they_are_needed_and_off_means_off() {
        Pools pools = new Pools(plane, PoolConfig.ofBytes(4096).orThrow(), PoolConfig.OFF);
        assertThat(plane.registered).isEmpty();
        assertThat(pools.stats(Placement.DEVICE)).isEmpty();
        assertThat(pools.require(Placement.DEVICE).orThrow())
                .isSameAs(pools.require(Placement.DEVICE).orThrow());
        assertThat(plane.registered).hasSize(1);
        Expect.failed(
                pools.require(Placement.HOST), LlmStatus.LLM_FEATURE_NOT_ENABLED, "HOST pool");
        Expect.ok(pools.close());
        assertThat(plane.registered).isEmpty();
    }

    /** Invariant 4: grants never exceed the pool or overlap; in the end it is empty. */
    @Test
    void grants_never_exceed_the_pool() {
        Seeded.check(50, this::grantsAreSound);
    }

    private void grantsAreSound(SplittableRandom random) {
        PoolConfig config =
                PoolConfig.classes(
                                (4 + random.nextInt(4)) * MIB,
                                List.of(
                                        new SizeClass(2 * MIB, 512, 4096),
                                        new SizeClass(2 * MIB, 4096, 65536)))
                        .orThrow();
        MemoryPool pool = open(Placement.DEVICE, Outcome.ok(config));
        List<Grant> live = new ArrayList<>();
        for (int step = 0; step < 100; step++) {
            if (random.nextInt(3) > 0) {
                Outcome<Grant> grant =
                        pool.grant(random.nextInt(1, 8), 1 + random.nextLong(200_000));
                if (grant instanceof Outcome.Ok<Grant>(Grant made)) {
                    live.add(made);
                }
            } else if (!live.isEmpty()) {
                live.remove(random.nextInt(live.size())).release();
            }
            assertDisjoint(live);
            assertThat(pool.stats().usedBytes()).isLessThanOrEqualTo(config.totalBytes());
        }
        live.forEach(Grant::release);
        assertThat(pool.stats().usedBytes()).isZero();
        assertThat(pool.stats().grants()).isZero();
    }

    private static void assertDisjoint(List<Grant> live) {
        List<MemorySegment> all =
                live.stream()
                        .flatMap(grant -> grant.tensors().stream())
                        .sorted((a, b) -> Long.compareUnsigned(a.address(), b.address()))
                        .toList();
        for (int i = 1; i < all.size(); i++) {
            assertThat(all.get(i - 1).address() + all.get(i - 1).byteSize())
                    .isLessThanOrEqualTo(all.get(i).address());
        }
    }

    private MemoryPool open(Placement placement, Outcome<PoolConfig> config) {
        return MemoryPool.open(placement, config.orThrow(), plane).orThrow();
    }
}
