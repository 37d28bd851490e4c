package io.cassia.master.core;

import static org.assertj.core.api.Assertions.assertThat;

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
    long restarts;
    long cuts;
    long copies;
    long lateBytes;
    long dropped;
    long evictions;
    long losses;
    long refusedEnds;
    long reserved;
    long commits;
    long goneSpaces;

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
        restarts += other.restarts;
        cuts += other.cuts;
        copies += other.copies;
        lateBytes += other.lateBytes;
        dropped += other.dropped;
        evictions += other.evictions;
        losses += other.losses;
        refusedEnds += other.refusedEnds;
        reserved += other.reserved;
        commits += other.commits;
        goneSpaces += other.goneSpaces;
    }

    /** That there was enough of everything in so many worlds. */
    void assertBusy(int worlds) {
        assertThat(puts).as("puts").isGreaterThan(50L * worlds);
        assertThat(reads).as("reads").isGreaterThan(100L * worlds);
        assertThat(evictions).as("evictions").isGreaterThan(10L * worlds);
        assertThat(losses).as("objects lost with their nodes").isGreaterThan(worlds);
        assertThat(refusedEnds).as("refused ends").isGreaterThan(worlds);
        assertThat(reserved).as("reserved spaces").isGreaterThan(10L * worlds);
        assertThat(commits).as("commits").isGreaterThan(5L * worlds);
        assertThat(goneSpaces).as("commits of space that was gone").isGreaterThan(worlds / 4);
        assertThat(copies).as("copies and moves").isGreaterThan(worlds);
        assertThat(crashes).as("crashes").isGreaterThan(worlds);
        assertThat(pauses).as("pauses").isGreaterThan(worlds);
        assertThat(stalls).as("stalls").isGreaterThan(worlds / 2);
        assertThat(restarts).as("masters started again").isGreaterThan(worlds / 4);
        assertThat(cuts).as("cuts").isGreaterThan(worlds);
        assertThat(lateReads).as("reads that outlived their lease").isGreaterThan(worlds / 2);
        assertThat(mismatches).as("wrong bytes that checksums caught").isGreaterThan(worlds / 10);
        assertThat(dropped).as("replicas dropped for wrong bytes").isPositive();
    }

    @Override
    public String toString() {
        return ("commands=%d puts=%d reads=%d misses=%d late-reads=%d mismatches=%d dropped=%d"
                        + " evictions=%d losses=%d refused-ends=%d copies=%d"
                        + " reserved=%d commits=%d gone-spaces=%d"
                        + " crashes=%d pauses=%d stalls=%d restarts=%d cuts=%d late-bytes=%d")
                .formatted(
                        commands,
                        puts,
                        reads,
                        misses,
                        lateReads,
                        mismatches,
                        dropped,
                        evictions,
                        losses,
                        refusedEnds,
                        copies,
                        reserved,
                        commits,
                        goneSpaces,
                        crashes,
                        pauses,
                        stalls,
                        restarts,
                        cuts,
                        lateBytes);
    }
}
