package io.cassia.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LimitedThreadsTest {
    private static final CountDownLatch NEVER = new CountDownLatch(1);

    /** How a task that waits for that long ends: true when it was interrupted. */
    private static CompletableFuture<Boolean> waiting(
            LimitedThreads threads, Duration allowed, Duration time) {
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        threads.execute(
                () -> {
                    if (!allowed.isZero()) {
                        threads.allow(allowed);
                    }
                    try {
                        boolean _ = NEVER.await(time.toMillis(), TimeUnit.MILLISECONDS);
                        interrupted.complete(false);
                    } catch (InterruptedException e) {
                        interrupted.complete(true);
                    }
                });
        return interrupted;
    }

    @Test
    void task_that_takes_too_long_is_interrupted_and_others_are_not() throws Exception {
        try (LimitedThreads threads =
                new LimitedThreads("limited-", Clock.system(), Duration.ofMillis(200))) {
            Duration hour = Duration.ofHours(1);
            CompletableFuture<Boolean> brief =
                    waiting(threads, Duration.ZERO, Duration.ofMillis(1));
            CompletableFuture<Boolean> endless = waiting(threads, Duration.ZERO, hour);
            CompletableFuture<Boolean> allowed = waiting(threads, hour, Duration.ofMillis(600));
            assertThat(brief.get(20, TimeUnit.SECONDS)).isFalse();
            assertThat(endless.get(20, TimeUnit.SECONDS)).isTrue();
            assertThat(allowed.get(20, TimeUnit.SECONDS)).isFalse();
        }
    }

    @Test
    void closing_interrupts_what_does_not_end_in_time() throws Exception {
        LimitedThreads threads =
                new LimitedThreads("limited-", Clock.system(), Duration.ofHours(1));
        CompletableFuture<Boolean> endless = waiting(threads, Duration.ZERO, Duration.ofHours(1));
        threads.close(Duration.ofMillis(10));
        assertThat(endless.get(20, TimeUnit.SECONDS)).isTrue();
    }
}
