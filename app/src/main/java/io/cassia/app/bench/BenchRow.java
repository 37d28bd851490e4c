package io.cassia.app.bench;

/**
 * One measurement. Immutable.
 *
 * @param cell what was measured
 * @param threads callers at once
 * @param bytes moved
 * @param calls completed, of a batch each
 * @param nanos how long it took
 * @param p50Nanos of the calls, half took at most so long
 * @param p95Nanos of 20 calls, one took longer
 * @param p99Nanos of 100 calls, one took longer
 * @param cpuNanos processor time of the processes that were measured
 * @param socketRate bytes per second of a plain socket loop; 0: not measured
 * @param copyRate bytes per second of memory copies; 0: not measured
 */
public record BenchRow(
        BenchPlan.Cell cell,
        int threads,
        long bytes,
        long calls,
        long nanos,
        long p50Nanos,
        long p95Nanos,
        long p99Nanos,
        long cpuNanos,
        double socketRate,
        double copyRate) {
    /** Bytes per second. */
    public double rate() {
        return bytes * 1e9 / nanos;
    }

    /** Blocks per second. */
    public double blocksPerSecond() {
        return calls * (double) cell.batchSize() * 1e9 / nanos;
    }

    /** Processors that were busy on average. */
    public double processors() {
        return cpuNanos / (double) nanos;
    }

    /** The same measurement beside what the machine can do. */
    public BenchRow beside(double socket, double copy) {
        return new BenchRow(
                cell, threads, bytes, calls, nanos, p50Nanos, p95Nanos, p99Nanos, cpuNanos, socket,
                copy);
    }
}
