package io.cassia.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.testkit.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A master, nodes and clients with faults, each seed another world: no broken promise, no wrong
 * byte, no history without an explanation, and peace in the end (docs/testing.md).
 */
class SimulationTest {
    private static final long COMMANDS = 1500;

    private static ClusterSimulation run(long seed) {
        ClusterSimulation world = new ClusterSimulation(seed, false);
        try {
            world.run(COMMANDS);
            return world;
        } catch (Throwable e) {
            throw new AssertionError(describe(seed, world), e);
        }
    }

    /** The same again, to tell what led to it. */
    private static String describe(long seed, ClusterSimulation failed) {
        ClusterSimulation traced = new ClusterSimulation(seed, true);
        try {
            traced.run(COMMANDS);
        } catch (Throwable e) {
            return "after "
                    + failed.figures.commands
                    + " commands in "
                    + failed.profile
                    + "\n    "
                    + traced.trace()
                    + "\n"
                    + e;
        }
        return "a second run with the same seed did not fail: something depends on chance";
    }

    private static void runAll(int seeds) {
        SimulationFigures all = new SimulationFigures();
        Seeds.forEach(seeds, seed -> all.add(run(seed).figures));
        System.out.println("simulation: " + all);
        if (System.getProperty("seed") == null) {
            all.assertBusy(seeds);
        }
    }

    @Test
    void the_master_keeps_its_promises_in_200_worlds() {
        runAll(200);
    }

    @Tag("deep")
    @Test
    void the_master_keeps_its_promises_in_5000_worlds() {
        runAll(5000);
    }

    @Test
    void a_seed_makes_the_same_world_each_time() {
        Seeds.forEach(
                3,
                seed -> {
                    ClusterSimulation first = run(seed);
                    ClusterSimulation second = new ClusterSimulation(seed, true);
                    second.run(COMMANDS);
                    assertThat(second.core.digest()).isEqualTo(first.core.digest());
                    assertThat(second.figures).hasToString(first.figures.toString());
                });
    }
}
