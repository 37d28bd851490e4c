package io.cassia.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Who is woken to read next; all on one thread, which wakes itself in vain. */
class ReadTurnTest {
    private final ReadTurn turn = new ReadTurn();
    private final Waiter a = new Waiter(Thread.currentThread());
    private final Waiter b = new Waiter(Thread.currentThread());
    private final Waiter c = new Waiter(Thread.currentThread());

    @Test
    void the_turn_is_taken_once() {
        assertThat(turn.takeOrQueue(a)).isTrue();
        assertThat(turn.tryTake()).isFalse();
        assertThat(turn.takeOrQueue(b)).isFalse();
        assertThat(turn.takeOrQueue(b)).isFalse();
        turn.pass();
        assertThat(b.promoted).isTrue();
        assertThat(turn.takeOrQueue(b)).isTrue();
    }

    @Test
    void the_first_who_still_waits_is_promoted() {
        assertThat(turn.takeOrQueue(a)).isTrue();
        assertThat(turn.takeOrQueue(b)).isFalse();
        assertThat(turn.takeOrQueue(c)).isFalse();
        b.done();
        turn.pass();
        assertThat(b.promoted).isFalse();
        assertThat(c.promoted).isTrue();
    }

    @Test
    void who_is_promoted_and_leaves_passes_it_on() {
        assertThat(turn.takeOrQueue(a)).isTrue();
        assertThat(turn.takeOrQueue(b)).isFalse();
        assertThat(turn.takeOrQueue(c)).isFalse();
        turn.pass();
        assertThat(b.promoted).isTrue();
        turn.leave(b);
        assertThat(c.promoted).isTrue();
    }

    @Test
    void who_is_promoted_too_late_queues_again_and_is_promoted_again() {
        assertThat(turn.takeOrQueue(a)).isTrue();
        assertThat(turn.takeOrQueue(b)).isFalse();
        turn.pass();
        assertThat(turn.takeOrQueue(c)).isTrue();
        assertThat(turn.takeOrQueue(b)).isFalse();
        turn.pass();
        assertThat(b.promoted).isTrue();
    }

    @Test
    void who_leaves_the_middle_of_the_queue_leaves_it_whole() {
        Waiter d = new Waiter(Thread.currentThread());
        assertThat(turn.takeOrQueue(a)).isTrue();
        assertThat(turn.takeOrQueue(b)).isFalse();
        assertThat(turn.takeOrQueue(c)).isFalse();
        assertThat(turn.takeOrQueue(d)).isFalse();
        turn.leave(c);
        turn.pass();
        assertThat(b.promoted).isTrue();
        turn.leave(b);
        assertThat(d.promoted).isTrue();
        turn.leave(d);
        assertThat(turn.tryTake()).isTrue();
    }
}
