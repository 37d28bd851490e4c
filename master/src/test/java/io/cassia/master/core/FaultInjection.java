package io.cassia.master.core;

import io.cassia.testkit.simulation.SimulatedProcess;
import java.util.List;
import java.util.SplittableRandom;

/** Confined to the simulation. Breaks something now and then, and mends it later. */
final class FaultInjection {
    private static final long HOUR_MILLIS = 3_600_000;

    private final ClusterSimulation world;
    private final SplittableRandom random;

    FaultInjection(ClusterSimulation world) {
        this.world = world;
        this.random = world.random.split();
    }

    void schedule() {
        long pause = (long) (-Math.log(1 - random.nextDouble()) * world.profile.faultEveryNanos());
        world.time.after(
                pause,
                () -> {
                    if (!world.quiet) {
                        breakSomething();
                        schedule();
                    }
                });
    }

    private void breakSomething() {
        switch (random.nextInt(25)) {
            case 0, 1, 2, 3 -> crash(any(world.clients));
            case 4, 5 -> crash(any(world.nodes));
            case 6, 7, 8, 9 -> pause(any(world.clients).process, 600);
            case 10, 11 -> pause(any(world.nodes).process, 1500);
            case 12, 13 -> stallMaster();
            case 14, 15, 16, 17 -> cut(any(world.nodes).process, world.master);
            case 18, 19 -> cut(any(world.clients).process, world.master);
            case 20, 21 -> cut(any(world.clients).process, any(world.nodes).process);
            case 22 -> restartMaster();
            default -> {
                any(world.nodes).leave(random.nextBoolean());
                stepClocks();
            }
        }
    }

    private <T> T any(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    private void crash(SimulatedMember member) {
        if (member.process.isDown()) {
            return;
        }
        world.trace(() -> member.process.name() + " crashes");
        world.figures.crashes++;
        member.crash();
        world.time.after(
                time(1500),
                () -> {
                    if (member.process.isDown()) {
                        world.trace(() -> member.process.name() + " starts");
                        member.start();
                    }
                });
    }

    private void pause(SimulatedProcess process, int mostMillis) {
        if (!process.isUp()) {
            return;
        }
        world.trace(() -> process.name() + " is paused");
        world.figures.pauses++;
        process.pause();
        world.time.after(
                time(mostMillis),
                () -> {
                    world.trace(() -> process.name() + " goes on");
                    process.resume(random);
                });
    }

    private void stallMaster() {
        if (world.master.isUp()) {
            world.figures.stalls++;
            world.audit.masterStalls();
            pause(world.master, random.nextInt(4) == 0 ? 4000 : 600);
        }
    }

    /** It forgets everything. */
    private void restartMaster() {
        if (world.master.isUp()) {
            world.trace(() -> "the master crashes");
            world.figures.restarts++;
            world.master.crash();
            world.time.after(time(1500), world::startMasterAgain);
        }
    }

    private void cut(SimulatedProcess one, SimulatedProcess other) {
        world.trace(() -> one.name() + " and " + other.name() + " are cut");
        world.figures.cuts++;
        world.network.cut(one, other);
        world.time.after(
                time(2500),
                () -> {
                    world.trace(() -> one.name() + " and " + other.name() + " are joined");
                    world.network.join(one, other);
                });
    }

    /** An hour forward and back, on all machines: nothing may depend on it. */
    private void stepClocks() {
        long step = random.nextBoolean() ? HOUR_MILLIS : -HOUR_MILLIS;
        world.master.clock().stepWall(step);
        world.nodes.forEach(node -> node.process.clock().stepWall(step));
        world.clients.forEach(client -> client.process.clock().stepWall(-step));
    }

    /** Mostly short, sometimes long. */
    private long time(int mostMillis) {
        double share = random.nextDouble();
        return (long) (share * share * mostMillis * SimulationProfile.MILLI);
    }
}
