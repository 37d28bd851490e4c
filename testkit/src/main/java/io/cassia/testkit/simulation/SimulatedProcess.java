package io.cassia.testkit.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Confined to one thread. A process that can be killed, started again and stopped for a while.
 *
 * <pre>
 *   DOWN ──start──► UP ──pause──► PAUSED ──resume──► UP
 *     ▲              │               │
 *     └────crash─────┴───────────────┘
 * </pre>
 *
 * What was to happen in an incarnation dies with it. What happens to a paused process waits until
 * it goes on, and then in any order: timers and connections of a real one race for its threads.
 */
public final class SimulatedProcess {
    private enum State {
        DOWN,
        UP,
        PAUSED
    }

    private record Waiting(Runnable action, Runnable lost) {}

    private final String name;
    private final VirtualTime time;
    private final VirtualClock clock;
    private final List<Waiting> waiting = new ArrayList<>();
    private State state = State.DOWN;
    private long incarnation;
    private long awakeBefore;
    private long awakeSince;

    public SimulatedProcess(String name, VirtualTime time, VirtualClock clock) {
        this.name = name;
        this.time = time;
        this.clock = clock;
    }

    public String name() {
        return name;
    }

    public VirtualClock clock() {
        return clock;
    }

    /** Counts the starts. */
    public long incarnation() {
        return incarnation;
    }

    public boolean isUp() {
        return state == State.UP;
    }

    public boolean isDown() {
        return state == State.DOWN;
    }

    public boolean isPaused() {
        return state == State.PAUSED;
    }

    public void start() {
        if (state != State.DOWN) {
            throw new IllegalStateException(name + " runs already");
        }
        incarnation++;
        wake();
    }

    public void crash() {
        sleep();
        state = State.DOWN;
        List<Waiting> lost = List.copyOf(waiting);
        waiting.clear();
        lost.forEach(each -> each.lost.run());
    }

    public void pause() {
        if (state == State.UP) {
            sleep();
            state = State.PAUSED;
        }
    }

    /** Goes on; what waited happens now, in an order that {@code race} decides. */
    public void resume(SplittableRandom race) {
        if (state != State.PAUSED) {
            return;
        }
        wake();
        List<Waiting> due = new ArrayList<>(waiting);
        waiting.clear();
        for (int i = due.size() - 1; i > 0; i--) {
            int other = race.nextInt(i + 1);
            Waiting moved = due.get(i);
            due.set(i, due.get(other));
            due.set(other, moved);
        }
        long current = incarnation;
        for (Waiting each : due) {
            time.after(0, () -> happen(current, each.action, each.lost));
        }
    }

    private void wake() {
        state = State.UP;
        awakeSince = time.nanos();
    }

    private void sleep() {
        if (state == State.UP) {
            awakeBefore += time.nanos() - awakeSince;
        }
    }

    /** Nanoseconds in which the process was up, in all its incarnations. */
    public long awakeNanos() {
        return awakeBefore + (state == State.UP ? time.nanos() - awakeSince : 0);
    }

    /** A timer of this incarnation. */
    public void after(long delayNanos, Runnable action) {
        long current = incarnation;
        time.after(delayNanos, () -> happen(current, action, () -> {}));
    }

    /**
     * Something comes from outside to an incarnation: it happens now, when the process goes on, or
     * never; then {@code lost} runs.
     */
    public void happen(long toIncarnation, Runnable action, Runnable lost) {
        if (state == State.DOWN || toIncarnation != incarnation) {
            lost.run();
        } else if (state == State.PAUSED) {
            waiting.add(new Waiting(action, lost));
        } else {
            action.run();
        }
    }
}
