package io.cassia.testkit.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SimulatedNetworkTest {
    private static final NetworkFaults BAD = new NetworkFaults(10, 20, 0.2, 0.2, 1000, 0.2);

    private final VirtualTime time = new VirtualTime();
    private final SimulatedProcess one = process("one");
    private final SimulatedProcess other = process("other");
    private final List<Integer> arrived = new ArrayList<>();
    private int over;

    private SimulatedProcess process(String name) {
        SimulatedProcess process = new SimulatedProcess(name, time, new VirtualClock(time, -5, 0));
        process.start();
        return process;
    }

    private SimulatedNetwork network(NetworkFaults faults) {
        return new SimulatedNetwork(time, new SplittableRandom(7), faults);
    }

    private void send(SimulatedNetwork network, int number) {
        network.send(one, other, true, () -> arrived.add(number), () -> over++);
    }

    private void runAll() {
        while (time.step()) {
            // To the last event.
        }
    }

    @Test
    void messages_are_lost_repeated_and_overtaken_and_each_is_over_once() {
        SimulatedNetwork network = network(BAD);
        for (int i = 0; i < 1000; i++) {
            send(network, i);
        }
        runAll();
        assertThat(over).isEqualTo(1000);
        assertThat(network.lost()).isPositive();
        assertThat(network.repeated()).isPositive();
        assertThat(arrived)
                .hasSize((int) (1000 - network.lost() + network.repeated()))
                .isNotEqualTo(arrived.stream().sorted().toList());
    }

    @Test
    void the_same_seed_gives_the_same_order() {
        SimulatedNetwork network = network(BAD);
        for (int i = 0; i < 100; i++) {
            send(network, i);
        }
        runAll();
        List<Integer> first = List.copyOf(arrived);
        arrived.clear();
        SimulatedNetwork again = network(BAD);
        for (int i = 0; i < 100; i++) {
            send(again, i);
        }
        runAll();
        assertThat(arrived).isEqualTo(first);
    }

    @Test
    void what_is_cut_hears_nothing_until_it_is_joined() {
        SimulatedNetwork network = network(BAD.healed());
        network.cut(one, other);
        send(network, 1);
        runAll();
        assertThat(arrived).isEmpty();
        network.join(other, one);
        send(network, 2);
        runAll();
        assertThat(arrived).containsExactly(2);
        assertThat(over).isEqualTo(2);
    }

    @Test
    void a_message_is_for_the_incarnation_that_ran_when_it_was_sent() {
        SimulatedNetwork network = network(BAD.healed());
        send(network, 1);
        other.crash();
        other.start();
        runAll();
        assertThat(arrived).isEmpty();
        assertThat(over).isEqualTo(1);
    }

    @Test
    void a_paused_process_gets_what_waited_when_it_goes_on_and_loses_it_when_it_dies() {
        SimulatedNetwork network = network(BAD.healed());
        other.pause();
        send(network, 1);
        runAll();
        assertThat(arrived).isEmpty();
        other.resume(new SplittableRandom(1));
        runAll();
        assertThat(arrived).containsExactly(1);
        other.pause();
        send(network, 2);
        runAll();
        other.crash();
        assertThat(arrived).containsExactly(1);
        assertThat(over).isEqualTo(2);
    }

    @Test
    void a_process_is_awake_as_long_as_it_is_up() {
        time.after(100, other::pause);
        time.after(150, () -> other.resume(new SplittableRandom(1)));
        time.after(170, other::crash);
        time.after(190, () -> {});
        runAll();
        assertThat(other.awakeNanos()).isEqualTo(120);
    }

    @Test
    void a_clock_drifts_and_only_its_wall_can_be_set() {
        VirtualClock fast = new VirtualClock(time, 1000, 100);
        long wall = fast.epochMillis();
        time.after(2_000_000_000, () -> fast.stepWall(-3_600_000));
        runAll();
        assertThat(fast.nanos()).isEqualTo(1000 + 2_000_000_000L + 200_000);
        assertThat(fast.epochMillis()).isEqualTo(wall + 2000 - 3_600_000);
    }
}
