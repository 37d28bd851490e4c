package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.base.Clock;
import io.cassia.store.SumWorkers.Worth;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SumWorkersTest {
    private final SumWorkers workers = new SumWorkers(Clock.system(), 1);

    /** Somebody else has begun a unit. */
    private final CountDownLatch helped = new CountDownLatch(1);

    /** The unit of somebody else may end. */
    private final CountDownLatch mayEnd = new CountDownLatch(1);

    private final AtomicInteger ended = new AtomicInteger();

    @AfterEach
    void close() {
        mayEnd.countDown();
        workers.close();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The caller waits in its unit until the worker is in one, which waits in turn. */
    private void unit(Thread caller, Runnable mine) {
        if (Thread.currentThread() == caller) {
            await(helped);
            mine.run();
        } else {
            helped.countDown();
            await(mayEnd);
            ended.incrementAndGet();
        }
    }

    @Test
    void each_unit_is_done_once_and_by_two_threads() {
        for (int run = 0; run < 200; run++) {
            AtomicIntegerArray done = new AtomicIntegerArray(100);
            workers.share(100, Worth.MUCH, done::incrementAndGet);
            for (int i = 0; i < done.length(); i++) {
                assertThat(done.get(i)).isEqualTo(1);
            }
        }
        // Neither of two units ends before both have begun.
        CyclicBarrier both = new CyclicBarrier(2);
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        try (SumWorkers fresh = new SumWorkers(Clock.system(), 1)) {
            fresh.share(
                    2,
                    Worth.SOME,
                    unit -> {
                        threads.add(Thread.currentThread());
                        try {
                            both.await(30, TimeUnit.SECONDS);
                        } catch (InterruptedException
                                | BrokenBarrierException
                                | TimeoutException e) {
                            throw new IllegalStateException(e);
                        }
                    });
        }
        assertThat(threads).hasSize(2);
    }

    @Test
    void without_a_worker_or_after_the_end_the_caller_does_all() {
        workers.close();
        SumWorkers none = new SumWorkers(Clock.system(), 0);
        for (SumWorkers alone : List.of(workers, none)) {
            AtomicInteger done = new AtomicInteger();
            Thread caller = Thread.currentThread();
            alone.share(
                    9,
                    Worth.SOME,
                    unit -> {
                        assertThat(Thread.currentThread()).isSameAs(caller);
                        done.incrementAndGet();
                    });
            assertThat(done).hasValue(9);
        }
        none.close();
    }

    @Test
    void failure_of_the_worker_reaches_the_caller_and_ends_the_work() {
        Thread caller = Thread.currentThread();
        AtomicInteger after = new AtomicInteger();
        assertThatThrownBy(
                        () ->
                                workers.share(
                                        1_000_000,
                                        Worth.MUCH,
                                        unit -> {
                                            if (Thread.currentThread() != caller) {
                                                helped.countDown();
                                                throw new ArithmeticException("in a worker");
                                            }
                                            await(helped);
                                            after.incrementAndGet();
                                        }))
                .isInstanceOf(IllegalStateException.class)
                .cause()
                .isInstanceOf(ArithmeticException.class);
        assertThat(after.get()).isLessThan(1_000_000);
    }

    /** A call on a thread of its own, of which the worker is in a unit. */
    private FutureTask<Boolean> call(Runnable mine) {
        FutureTask<Boolean> call =
                new FutureTask<>(
                        () -> {
                            Thread caller = Thread.currentThread();
                            workers.share(2, Worth.SOME, unit -> unit(caller, mine));
                            return Thread.interrupted();
                        });
        return call;
    }

    private static void awaitWaiting(Thread thread) {
        while (thread.getState() != Thread.State.WAITING) {
            assertThat(thread.isAlive()).isTrue();
            Thread.onSpinWait();
        }
    }

    @Test
    void caller_that_fails_waits_for_the_worker_before_it_returns() throws Exception {
        CountDownLatch thrown = new CountDownLatch(1);
        FutureTask<Boolean> call =
                call(
                        () -> {
                            thrown.countDown();
                            throw new ArithmeticException("mine");
                        });
        Thread thread = Thread.ofPlatform().start(call);
        await(thrown);
        awaitWaiting(thread);
        assertThat(call.isDone()).isFalse();
        assertThat(ended).hasValue(0);
        mayEnd.countDown();
        assertThatThrownBy(() -> call.get(30, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(ArithmeticException.class);
        assertThat(ended).hasValue(1);
    }

    @Test
    void interrupt_neither_ends_the_wait_nor_is_lost() throws Exception {
        FutureTask<Boolean> call = call(() -> Thread.currentThread().interrupt());
        Thread thread = Thread.ofPlatform().start(call);
        await(helped);
        awaitWaiting(thread);
        assertThat(call.isDone()).isFalse();
        mayEnd.countDown();
        assertThat(call.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(ended).hasValue(1);
    }

    @Test
    void work_that_no_worker_has_begun_is_begun_by_none_later() throws Exception {
        FutureTask<Boolean> busy = call(() -> {});
        Thread.ofPlatform().start(busy);
        await(helped);
        // The only worker is in the other call: this one is through without it.
        AtomicInteger done = new AtomicInteger();
        Thread caller = Thread.currentThread();
        workers.share(
                5,
                Worth.SOME,
                unit -> {
                    assertThat(Thread.currentThread()).isSameAs(caller);
                    done.incrementAndGet();
                });
        assertThat(done).hasValue(5);
        mayEnd.countDown();
        busy.get(30, TimeUnit.SECONDS);
        // Whatever the worker finds in its queue now is over.
        AtomicInteger next = new AtomicInteger();
        for (int i = 0; i < 100; i++) {
            workers.share(10, Worth.SOME, unit -> next.incrementAndGet());
        }
        assertThat(next).hasValue(1000);
        assertThat(done).hasValue(5);
    }

    @Test
    void memory_of_one_thread_is_shared_with_none() {
        try (Arena mine = Arena.ofConfined();
                Arena all = Arena.ofShared()) {
            assertThat(workers.worth(List.of(mine.allocate(1 << 20)), 1 << 20))
                    .isEqualTo(Worth.NOTHING);
            assertThat(workers.worth(List.of(all.allocate(1 << 20)), 1 << 20))
                    .isEqualTo(Worth.SOME);
            assertThat(workers.worth(List.of(all.allocate(1 << 16)), 1 << 16))
                    .isEqualTo(Worth.NOTHING);
        }
    }
}
