package io.cassia.transfer.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Pauses between attempts to connect, on a clock of numbers. */
class BackoffTest {
    private static final long MILLI = 1_000_000;

    /** Nanosecond clocks may be about to wrap around. */
    private static final long START = Long.MAX_VALUE - 20 * MILLI;

    private final Backoff backoff = new Backoff();

    @Test
    void a_pause_doubles_with_each_failure_up_to_a_second() {
        long now = START;
        assertThat(backoff.leftNanos(now)).isZero();
        long pause = 10 * MILLI;
        for (int i = 0; i < 12; i++) {
            backoff.failed(now, now + MILLI, "refused");
            now += MILLI;
            assertThat(backoff.leftNanos(now)).isEqualTo(Math.min(pause, 1000 * MILLI));
            now += backoff.leftNanos(now);
            assertThat(backoff.leftNanos(now)).isZero();
            pause *= 2;
        }
    }

    @Test
    void attempts_that_fail_together_are_one_failure() {
        for (int i = 0; i < 16; i++) {
            backoff.failed(START, START + i, "refused " + i);
        }
        assertThat(backoff.leftNanos(START)).isEqualTo(10 * MILLI);
        assertThat(backoff.cause()).isEqualTo("refused 15");
    }

    @Test
    void success_forgets_all_failures() {
        backoff.failed(START, START, "refused");
        backoff.failed(START + 10 * MILLI, START + 10 * MILLI, "refused");
        backoff.succeeded();
        assertThat(backoff.leftNanos(START + 10 * MILLI)).isZero();
        backoff.failed(START + 11 * MILLI, START + 11 * MILLI, "refused");
        assertThat(backoff.leftNanos(START + 11 * MILLI)).isEqualTo(10 * MILLI);
    }
}
