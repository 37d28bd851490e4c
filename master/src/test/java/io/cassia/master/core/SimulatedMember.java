package io.cassia.master.core;

import io.cassia.rpc.mooncake.Uuid;
import io.cassia.testkit.simulation.SimulatedProcess;
import java.util.List;
import java.util.function.Consumer;

/** Confined to the simulation. A process that asks the master: a client or a node. */
abstract class SimulatedMember {
    private static final long ANSWER_WITHIN = 40 * SimulationProfile.MILLI;

    final ClusterSimulation world;
    final SimulatedProcess process;
    Uuid id = new Uuid(0, 0);

    SimulatedMember(ClusterSimulation world, SimulatedProcess process) {
        this.world = world;
        this.process = process;
    }

    /** Starts the process, as somebody new. */
    void start() {
        process.start();
        id = world.newId();
        run();
    }

    /** What the process does once it is up. */
    abstract void run();

    abstract void crash();

    /** Asks the master; the answer may come never, and is not listened to when it comes late. */
    final <R> void ask(Command<R> command, Consumer<R> answered, Runnable silence) {
        ask(command, List.of(), world.newHolder(), answered, silence, () -> {});
    }

    /**
     * Asks the master.
     *
     * @param over runs when no copy of the message can reach the master any more
     */
    final <R> void ask(
            Command<R> command,
            List<WriteAttempt> attempts,
            long holder,
            Consumer<R> answered,
            Runnable silence,
            Runnable over) {
        Request<R> request =
                new Request<>(command, process.name(), world.time.nanos(), attempts, holder);
        boolean[] settled = {false};
        long asking = process.incarnation();
        world.network.send(
                process,
                world.master,
                mayRepeat(command),
                () -> {
                    R answer = world.handle(request);
                    world.network.send(
                            world.master,
                            process,
                            false,
                            () -> {
                                // A connection ends with the process that asked.
                                if (!settled[0] && asking == process.incarnation()) {
                                    settled[0] = true;
                                    answered.accept(answer);
                                }
                            },
                            () -> {});
                },
                over);
        process.after(
                ANSWER_WITHIN,
                () -> {
                    if (!settled[0]) {
                        settled[0] = true;
                        silence.run();
                    }
                });
    }

    /** No start arrives twice unless its end will say which one it means. */
    private boolean mayRepeat(Command<?> command) {
        return switch (command) {
            case Command.PutStart _,
                    Command.UpsertStart _,
                    Command.BatchPutStart _,
                    Command.BatchUpsertStart _,
                    Command.Reserve _,
                    Command.CopyStart _,
                    Command.MoveStart _ ->
                    world.profile.namesPuts();
            default -> true;
        };
    }
}
