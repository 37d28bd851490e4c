package io.cassia.datadist.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.datadist.Expect;
import io.cassia.datadist.ManualClock;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** The vectors of the spec (6.7): shape {4,16} int32, 4 tensors, source 0..n. */
final class LocalCopyTest {
    private final ManualClock clock = new ManualClock();
    private final CacheTable table = new CacheTable(clock);
    private final LocalCopy copies = new LocalCopy(table, clock);
    private final long deadline = clock.nanos() + Duration.ofSeconds(1).toNanos();

    @Test
    void one_batch_goes_to_another_and_nothing_else_changes() {
        Cache src = numbered(Placement.DEVICE);
        Cache dst = blank(Placement.DEVICE);
        Expect.ok(copies.batch(BatchCopy.of(src, dst).withBatches(0, 1), deadline));
        Expect.ok(copies.batch(BatchCopy.of(src, dst).withBatches(2, 3), deadline));
        assertThat(batch(dst, 3, 1)).isEqualTo(batch(src, 3, 0));
        assertThat(batch(dst, 3, 3)).isEqualTo(batch(src, 3, 2));
        assertThat(batch(dst, 3, 0)).containsOnly(0);
        assertThat(batch(dst, 3, 2)).containsOnly(0);
    }

    @Test
    void a_device_cache_is_copied_into_memory_of_the_caller() {
        Cache src = numbered(Placement.DEVICE);
        CacheDesc desc = desc(Placement.HOST);
        Cache dst = Cache.cpu(desc, memory(desc));
        Expect.ok(copies.batch(BatchCopy.of(src, dst).withBatches(1, 0), deadline));
        assertThat(batch(dst, 2, 0)).isEqualTo(batch(src, 2, 1));
    }

    @Test
    void a_part_of_a_batch_keeps_its_place() {
        Cache src = numbered(Placement.DEVICE);
        Cache dst = blank(Placement.DEVICE);
        Expect.ok(copies.batch(BatchCopy.of(src, dst).withRange(8, 4), deadline));
        assertThat(batch(dst, 0, 0)[2]).isEqualTo(batch(src, 0, 0)[2]);
        assertThat(batch(dst, 0, 0)[3]).isZero();
        Expect.ok(copies.batch(BatchCopy.of(src, dst).withRange(60, -1), deadline));
        assertThat(batch(dst, 0, 0)[15]).isEqualTo(batch(src, 0, 0)[15]);
        assertThat(batch(dst, 0, 1)[0]).isZero();
    }

    @Test
    void what_does_not_fit_is_refused() {
        Cache src = numbered(Placement.DEVICE);
        Cache dst = blank(Placement.DEVICE);
        BatchCopy copy = BatchCopy.of(src, dst);
        Expect.invalid(copies.batch(copy.withBatches(4, 0), deadline), "batch 4 of 4");
        Expect.invalid(copies.batch(copy.withBatches(0, -1), deadline), "batch -1");
        Expect.invalid(copies.batch(copy.withRange(64, -1), deadline), "offset 64");
        Expect.invalid(copies.batch(copy.withRange(60, 5), deadline), "size 5");
        Expect.invalid(copies.batch(copy.withRange(0, 0), deadline), "size 0");
        Expect.invalid(copies.batch(BatchCopy.of(numbered(Placement.HOST), dst), deadline), "host");
        Expect.missing(
                copies.batch(BatchCopy.of(new Cache(99, src.desc(), List.of()), dst), deadline),
                "source",
                "99");
        Expect.invalid(
                copies.batch(
                        BatchCopy.of(src, add(CacheDesc.device(2, DataType.INT32, 4, 16))),
                        deadline),
                "4 tensors to 2");
    }

    @Test
    void blocks_go_from_device_to_device_to_host_and_back() {
        for (Placement from : Placement.values()) {
            for (Placement to : Placement.values()) {
                Cache src = numbered(from);
                Cache dst = blank(to);
                var outcome =
                        copies.blocks(
                                src, dst, new long[] {0, 2}, List.of(new long[] {1, 3}), deadline);
                if (from == Placement.HOST && to == Placement.HOST) {
                    Expect.invalid(outcome, "host");
                } else {
                    Expect.ok(outcome);
                    assertThat(batch(dst, 1, 1)).isEqualTo(batch(src, 1, 0));
                    assertThat(batch(dst, 1, 3)).isEqualTo(batch(src, 1, 2));
                    assertThat(batch(dst, 1, 0)).containsOnly(0);
                }
            }
        }
    }

    @Test
    void one_block_goes_to_several() {
        Cache src = numbered(Placement.DEVICE);
        Cache dst = blank(Placement.DEVICE);
        Expect.ok(
                copies.blocks(
                        src,
                        dst,
                        new long[] {3},
                        List.of(new long[] {0}, new long[] {2}),
                        deadline));
        assertThat(batch(dst, 0, 0)).isEqualTo(batch(src, 0, 3));
        assertThat(batch(dst, 0, 2)).isEqualTo(batch(src, 0, 3));
    }

    @Test
    void block_lists_are_pairs_of_blocks_that_exist() {
        Cache src = numbered(Placement.DEVICE);
        Cache dst = blank(Placement.DEVICE);
        Expect.invalid(
                copies.blocks(src, dst, new long[] {0, 1}, List.of(new long[] {0}), deadline),
                "2 source blocks but 1");
        Expect.invalid(copies.blocks(src, dst, new long[0], List.of(), deadline), "no blocks");
        Expect.invalid(
                copies.blocks(src, dst, new long[] {4}, List.of(new long[] {0}), deadline),
                "source block 4");
        Expect.invalid(
                copies.blocks(src, dst, new long[] {0}, List.of(new long[] {-1}), deadline),
                "destination block -1");
        Expect.invalid(
                copies.blocks(
                        src,
                        add(CacheDesc.device(4, DataType.INT32, 4, 8)),
                        new long[] {0},
                        List.of(new long[] {0}),
                        deadline),
                "blocks of 64 bytes and of 32");
    }

    @Test
    void a_swap_has_one_side_of_each_kind() {
        Cache device = numbered(Placement.DEVICE);
        Cache host = blank(Placement.HOST);
        Expect.ok(copies.swap(device, host, Map.of(0L, 3L), deadline));
        assertThat(batch(host, 1, 3)).isEqualTo(batch(device, 1, 0));
        Expect.ok(copies.swap(host, device, Map.of(3L, 1L), deadline));
        assertThat(batch(device, 1, 1)).isEqualTo(batch(device, 1, 0));
        Expect.invalid(copies.swap(device, device, Map.of(0L, 1L), deadline), "swap");
        Expect.invalid(copies.swap(host, host, Map.of(0L, 1L), deadline), "swap");
    }

    @Test
    void a_copy_whose_time_is_over_does_nothing() {
        Cache src = numbered(Placement.DEVICE);
        Cache dst = blank(Placement.DEVICE);
        clock.advance(Duration.ofSeconds(2));
        Expect.failed(
                copies.batch(BatchCopy.of(src, dst), deadline),
                LlmStatus.LLM_WAIT_PROC_TIMEOUT,
                "SyncKvCacheWaitTime");
        assertThat(batch(dst, 0, 0)).containsOnly(0);
        assertThat(table.caches()).allMatch(cache -> cache.pins() == 0);
    }

    @Test
    void a_copy_waits_behind_another_no_longer_than_its_time() throws InterruptedException {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Thread[] holder = {Thread.currentThread()};
        LocalCopy queue = new LocalCopy(table, stoppingClock(holder, inside, goOn));
        Cache src = numbered(Placement.DEVICE);
        Cache dst = blank(Placement.DEVICE);
        long far = Clock.system().nanos() + Duration.ofMinutes(1).toNanos();
        Thread other =
                Thread.ofPlatform()
                        .unstarted(() -> Expect.ok(queue.batch(BatchCopy.of(src, dst), far)));
        holder[0] = other;
        other.start();
        inside.await();
        long soon = Clock.system().nanos() + Duration.ofMillis(20).toNanos();
        Expect.failed(
                queue.batch(BatchCopy.of(src, dst), soon),
                LlmStatus.LLM_WAIT_PROC_TIMEOUT,
                "behind other copies");
        goOn.countDown();
        other.join();
        Expect.ok(queue.batch(BatchCopy.of(src, dst), far));
    }

    /**
     * Real time; the holder stops when it asks for it the second time, which is inside the copy.
     */
    private static Clock stoppingClock(
            Thread[] holder, CountDownLatch inside, CountDownLatch goOn) {
        return new Clock() {
            private int asked;

            @Override
            public long nanos() {
                if (Thread.currentThread() == holder[0] && ++asked == 2) {
                    inside.countDown();
                    try {
                        goOn.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
                return Clock.system().nanos();
            }

            @Override
            public long epochMillis() {
                return Clock.system().epochMillis();
            }
        };
    }

    private static int[] batch(Cache cache, int tensor, int batch) {
        return cache.tensors().get(tensor).asSlice(batch * 64L, 64).toArray(ValueLayout.JAVA_INT);
    }

    private Cache numbered(Placement placement) {
        Cache cache = blank(placement);
        int next = 1;
        for (MemorySegment tensor : cache.tensors()) {
            for (long i = 0; i < tensor.byteSize() / 4; i++) {
                tensor.setAtIndex(ValueLayout.JAVA_INT, i, next++);
            }
        }
        return cache;
    }

    private Cache blank(Placement placement) {
        return add(desc(placement));
    }

    private static CacheDesc desc(Placement placement) {
        return new CacheDesc(4, DataType.INT32, List.of(4L, 16L), placement);
    }

    private Cache add(CacheDesc desc) {
        return table.add(
                        new NewCache(
                                desc,
                                desc.geometry().orThrow(),
                                CacheOrigin.ALLOCATED,
                                false,
                                memory(desc),
                                List.of(),
                                Optional.empty(),
                                Outcome::done))
                .orThrow();
    }

    private static List<MemorySegment> memory(CacheDesc desc) {
        List<MemorySegment> tensors = new ArrayList<>();
        for (int i = 0; i < desc.numTensors(); i++) {
            tensors.add(Arena.ofAuto().allocate(desc.geometry().orThrow().tensorBytes(), 8));
        }
        return tensors;
    }
}
