package io.cassia.transfer.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.transfer.net.Watchdog.Watch;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class WatchdogTest {
    private static final long SECOND = 1_000_000_000;

    private final Clock clock = Clock.system();
    private final Watchdog watchdog = new Watchdog(clock, "watchdog-test");

    @AfterEach
    void close() {
        watchdog.close();
    }

    @Test
    void a_deadline_that_is_over_expires_once_and_for_good() throws Exception {
        CountDownLatch expired = new CountDownLatch(1);
        AtomicInteger times = new AtomicInteger();
        Watch watch =
                watchdog.watch(
                        () -> {
                            times.incrementAndGet();
                            expired.countDown();
                        });
        long start = clock.nanos();
        watch.arm(start + SECOND / 20);
        assertThat(expired.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(clock.nanos() - start).isGreaterThanOrEqualTo(SECOND / 20);
        assertThat(watch.isExpired()).isTrue();
        assertThat(watch.disarm()).isFalse();
        watch.arm(clock.nanos() + SECOND / 100);
        expireAnother();
        assertThat(watch.isExpired()).isTrue();
        assertThat(times).hasValue(1);
    }

    /** On return the watchdog has looked at all watches once more. */
    private void expireAnother() throws InterruptedException {
        CountDownLatch other = new CountDownLatch(1);
        Watch watch = watchdog.watch(other::countDown);
        watch.arm(clock.nanos() + SECOND / 50);
        assertThat(other.await(10, TimeUnit.SECONDS)).isTrue();
        watch.close();
    }

    @Test
    void a_connection_that_cannot_be_ended_leaves_the_others_their_deadlines() throws Exception {
        CountDownLatch tried = new CountDownLatch(1);
        Watch broken =
                watchdog.watch(
                        () -> {
                            tried.countDown();
                            throw new IllegalStateException("no");
                        });
        broken.arm(clock.nanos() + SECOND / 100);
        assertThat(tried.await(10, TimeUnit.SECONDS)).isTrue();
        expireAnother();
        assertThat(broken.isExpired()).isTrue();
    }

    @Test
    void a_deadline_that_is_moved_or_taken_away_does_not_expire() throws Exception {
        AtomicInteger times = new AtomicInteger();
        Watch disarmed = watchdog.watch(times::incrementAndGet);
        Watch moved = watchdog.watch(times::incrementAndGet);
        Watch forgotten = watchdog.watch(times::incrementAndGet);
        long soon = clock.nanos() + SECOND / 20;
        for (Watch watch : new Watch[] {disarmed, moved, forgotten}) {
            watch.arm(soon);
        }
        assertThat(disarmed.disarm()).isTrue();
        moved.arm(soon + 3600 * SECOND);
        forgotten.close();
        while (clock.nanos() - soon < SECOND / 100) {
            expireAnother();
        }
        assertThat(times).hasValue(0);
        assertThat(moved.disarm()).isTrue();
    }

    @Test
    void a_near_deadline_is_met_while_others_come_and_go_and_when_all_was_quiet() throws Exception {
        Watch busy = watchdog.watch(() -> {});
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 100_000; i++) {
                busy.arm(clock.nanos() + 30 * SECOND);
                assertThat(busy.disarm()).isTrue();
            }
            long start = clock.nanos();
            expireAnother();
            // Far less than the thirty seconds that were planned before.
            assertThat(clock.nanos() - start).isLessThan(5 * SECOND);
        }
    }
}
