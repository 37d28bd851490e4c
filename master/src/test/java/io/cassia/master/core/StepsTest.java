package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.TENANT;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * What concerns very many objects goes in steps, and no step takes more than so many of them:
 * others wait for one step at most. The processor time of the longest is printed.
 */
class StepsTest {
    private static final int OBJECTS = 200_000;
    private static final int LONGEST_STEP = 8192;

    private final Harness master = new Harness();
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private long longestNanos;
    private int steps;

    private <R> R step(Command<R> command) {
        long start = threads.getCurrentThreadCpuTime();
        R answer = master.apply(command);
        longestNanos = Math.max(longestNanos, threads.getCurrentThreadCpuTime() - start);
        steps++;
        return answer;
    }

    private void tell(String what) {
        System.out.printf(
                "%s of %,d objects: %d steps, the longest %.2f ms of processor time%n",
                what, OBJECTS, steps, longestNanos / 1e6);
    }

    private void fill() {
        master.mount(A, 11, "node-a:1", 64L * OBJECTS);
        for (int i = 0; i < OBJECTS; i++) {
            master.put("key-" + i, 64);
        }
    }

    @Test
    void the_objects_of_a_lost_node_go_in_steps() {
        fill();
        master.sleep(Duration.ofSeconds(11));
        long left = OBJECTS;
        // Suspected first, and given up at the end of the longer time; the clock moves as it ticks.
        for (int i = 0; left > 0 && i < 10_000; i++) {
            boolean _ = step(new Command.Tick());
            long now = master.stats().objects();
            assertThat(left - now).isLessThanOrEqualTo(LONGEST_STEP);
            left = now;
            master.sleep(Duration.ofMillis(100));
        }
        assertThat(left).isZero();
        tell("expiry");
    }

    @Test
    void an_expression_runs_over_all_keys_in_steps() {
        fill();
        Selection selection =
                new Selection(Optional.of(TENANT), Optional.of(ByteString.of("^key-[0-9]*7$")));
        Optional<Cursor> at = Optional.of(Cursor.START);
        long matches = 0;
        while (at.isPresent()) {
            Slice<Map<ByteString, List<ReplicaDescriptor>>> slice =
                    step(new Command.GetSlice(selection, at.get())).orThrow();
            assertThat(slice.part().size()).isLessThanOrEqualTo(LONGEST_STEP);
            matches += slice.part().size();
            at = slice.rest();
        }
        assertThat(matches).isEqualTo(OBJECTS / 10);
        assertThat(steps).isGreaterThanOrEqualTo(OBJECTS / LONGEST_STEP);
        tell("a search");
        at = Optional.of(Cursor.START);
        steps = 0;
        longestNanos = 0;
        long removed = 0;
        while (at.isPresent()) {
            Slice<Long> slice = step(new Command.RemoveSlice(selection, true, at.get())).orThrow();
            assertThat(slice.part()).isLessThanOrEqualTo(LONGEST_STEP);
            removed += slice.part();
            at = slice.rest();
        }
        assertThat(removed).isEqualTo(OBJECTS / 10);
        tell("a removal");
    }
}
