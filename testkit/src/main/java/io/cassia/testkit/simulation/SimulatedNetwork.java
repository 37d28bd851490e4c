package io.cassia.testkit.simulation;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Confined to one thread. Messages between processes, each of which may be lost, late or repeated;
 * and pairs of processes that cannot reach each other. A message to a process is for the
 * incarnation that ran when it was sent: its connection ends with it. The sender's death does not
 * call it back.
 */
public final class SimulatedNetwork {
    private record Cut(SimulatedProcess one, SimulatedProcess other) {}

    private final VirtualTime time;
    private final SplittableRandom random;
    private final Set<Cut> cuts = new HashSet<>();
    private NetworkFaults faults;
    private long sent;
    private long lost;
    private long late;
    private long repeated;

    public SimulatedNetwork(VirtualTime time, SplittableRandom random, NetworkFaults faults) {
        this.time = time;
        this.random = random;
        this.faults = faults;
    }

    /** From now on no message is lost, late or repeated, and all reach all. */
    public void heal() {
        faults = faults.healed();
        cuts.clear();
    }

    /** Neither reaches the other any more. */
    public void cut(SimulatedProcess one, SimulatedProcess other) {
        cuts.add(new Cut(one, other));
        cuts.add(new Cut(other, one));
    }

    public void join(SimulatedProcess one, SimulatedProcess other) {
        cuts.remove(new Cut(one, other));
        cuts.remove(new Cut(other, one));
    }

    public boolean isCut(SimulatedProcess one, SimulatedProcess other) {
        return cuts.contains(new Cut(one, other));
    }

    /**
     * Sends.
     *
     * @param mayRepeat whether the message may arrive twice
     * @param arrival what it does at its receiver
     * @param over runs when the last copy has arrived or is lost
     */
    public void send(
            SimulatedProcess from,
            SimulatedProcess to,
            boolean mayRepeat,
            Runnable arrival,
            Runnable over) {
        sent++;
        boolean again = mayRepeat && random.nextDouble() < faults.duplicateChance();
        boolean drop = random.nextDouble() < faults.dropChance() || isCut(from, to);
        repeated += again ? 1 : 0;
        lost += drop ? 1 : 0;
        int[] copies = {(drop ? 0 : 1) + (again ? 1 : 0)};
        if (copies[0] == 0) {
            over.run();
            return;
        }
        Runnable settled =
                () -> {
                    if (--copies[0] == 0) {
                        over.run();
                    }
                };
        Runnable arrived =
                () -> {
                    arrival.run();
                    settled.run();
                };
        long incarnation = to.incarnation();
        if (!drop) {
            time.after(wayNanos(), () -> to.happen(incarnation, arrived, settled));
        }
        if (again) {
            time.after(
                    wayNanos() + between(0, faults.lateNanos()),
                    () -> to.happen(incarnation, arrived, settled));
        }
    }

    /** How long one message is under way. */
    public long wayNanos() {
        long way = between(faults.minNanos(), faults.maxNanos());
        if (random.nextDouble() < faults.lateChance()) {
            late++;
            way += between(0, faults.lateNanos());
        }
        return way;
    }

    private long between(long least, long most) {
        return most <= least ? least : random.nextLong(least, most);
    }

    public long sent() {
        return sent;
    }

    public long lost() {
        return lost;
    }

    public long late() {
        return late;
    }

    public long repeated() {
        return repeated;
    }
}
