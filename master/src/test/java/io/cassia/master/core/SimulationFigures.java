package io.cassia.master.core;

/**
 * Confined to the simulation. What happened in it: a run in which nothing happened proves nothing.
 */
final class SimulationFigures {
    long commands;
    long puts;
    long reads;
    long misses;
    long lateReads;
    long mismatches;
    long crashes;
    long pauses;
    long stalls;
    long cuts;
    long copies;

    void add(SimulationFigures other) {
        commands += other.commands;
        puts += other.puts;
        reads += other.reads;
        misses += other.misses;
        lateReads += other.lateReads;
        mismatches += other.mismatches;
        crashes += other.crashes;
        pauses += other.pauses;
        stalls += other.stalls;
        cuts += other.cuts;
        copies += other.copies;
    }

    @Override
    public String toString() {
        return "commands=%d puts=%d reads=%d misses=%d late-reads=%d mismatches=%d crashes=%d pauses=%d stalls=%d cuts=%d copies=%d"
                .formatted(
                        commands,
                        puts,
                        reads,
                        misses,
                        lateReads,
                        mismatches,
                        crashes,
                        pauses,
                        stalls,
                        cuts,
                        copies);
    }
}
