package io.cassia.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;

class DeadlineTest {
    private static Clock at(long nanos) {
        return new Clock() {
            @Override
            public long nanos() {
                return nanos;
            }

            @Override
            public long epochMillis() {
                return 0;
            }
        };
    }

    @Test
    void a_timeout_of_any_length_makes_a_moment_that_is_to_come() {
        for (long now : new long[] {0, Long.MAX_VALUE, Long.MIN_VALUE, -1}) {
            for (Duration timeout :
                    new Duration[] {
                        Duration.ofNanos(1),
                        Duration.ofNanos(Long.MAX_VALUE),
                        ChronoUnit.FOREVER.getDuration()
                    }) {
                Deadline deadline = Deadline.after(at(now), timeout);
                assertThat(deadline.hasPassed()).as("%d + %s", now, timeout).isFalse();
                assertThat(deadline.remaining()).isPositive().isLessThanOrEqualTo(timeout);
            }
        }
    }

    @Test
    void without_a_timeout_it_has_passed() {
        for (Duration timeout :
                new Duration[] {Duration.ZERO, Duration.ofSeconds(Long.MIN_VALUE)}) {
            assertThat(Deadline.after(at(5), timeout).hasPassed()).isTrue();
            assertThat(Deadline.after(at(5), timeout).remaining()).isZero();
        }
    }
}
