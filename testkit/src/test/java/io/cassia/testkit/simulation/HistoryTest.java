package io.cassia.testkit.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A checker that finds every history explicable would be worth nothing. */
class HistoryTest {
    private record Operation(boolean writes, int value) {}

    /** A number that can be written and read. */
    private static final class Register implements History.Rules<Integer, Operation> {
        @Override
        public @Nullable Integer apply(Integer state, Operation operation) {
            if (operation.writes) {
                return operation.value;
            }
            return state == operation.value ? state : null;
        }

        @Override
        public boolean isObservation(Operation operation) {
            return !operation.writes;
        }
    }

    private final VirtualTime time = new VirtualTime();
    private final History<Integer, Operation> history = new History<>(time, 0, new Register());

    private static Operation write(int value) {
        return new Operation(true, value);
    }

    private static Operation read(int value) {
        return new Operation(false, value);
    }

    @Test
    void a_read_sees_what_was_written_before() {
        history.happened(write(1));
        history.happened(read(1));
        history.happened(write(2));
        history.happened(read(2));
        assertThat(history.check()).isEmpty();
    }

    @Test
    void a_read_of_an_old_value_has_no_explanation() {
        history.happened(write(1));
        history.happened(write(2));
        history.happened(read(1));
        assertThat(history.check().orElseThrow()).contains("value=1");
    }

    @Test
    void a_read_during_a_write_sees_either_value_but_never_the_old_one_after_the_new_one() {
        History.Call<Operation> writing = history.call(write(1));
        history.happened(read(0));
        history.happened(read(1));
        history.done(writing);
        assertThat(history.check()).isEmpty();
        History.Call<Operation> again = history.call(write(2));
        history.happened(read(2));
        history.happened(read(1));
        history.done(again);
        assertThat(history.check()).isPresent();
    }

    @Test
    void what_failed_is_never_seen() {
        History.Call<Operation> failing = history.call(write(1));
        history.happened(read(1));
        history.failed(failing);
        assertThat(history.check()).isPresent();
    }

    @Test
    void an_unknown_outcome_may_show_until_its_end_and_not_after() {
        History.Call<Operation> one = history.call(write(1));
        history.happened(read(0));
        history.unknown(one);
        history.happened(read(1));
        assertThat(history.check()).isEmpty();

        History.Call<Operation> two = history.call(write(2));
        history.happened(write(3));
        history.unknown(two);
        history.happened(read(3));
        history.happened(read(2));
        assertThat(history.check()).isPresent();
    }

    @Test
    void two_writes_at_a_time_have_one_order_for_all_readers() {
        History.Call<Operation> one = history.call(write(1));
        History.Call<Operation> two = history.call(write(2));
        History.Call<Operation> reading = history.call(read(0));
        history.done(one);
        history.done(two);
        history.done(reading, read(1));
        assertThat(history.check()).isEmpty();
        history.happened(read(2));
        assertThat(history.check()).isEmpty();
        history.happened(read(1));
        assertThat(history.check()).isPresent();
    }

    @Test
    void an_operation_ends_once() {
        History.Call<Operation> one = history.call(write(1));
        history.done(one);
        assertThatThrownBy(() -> history.failed(one)).isInstanceOf(IllegalStateException.class);
    }
}
