package io.cassia.app.bench;

/**
 * One measurement of a master. Immutable.
 *
 * @param cell what was measured
 * @param objects keys that the master held
 * @param keys done
 * @param nanos how long it took
 * @param p50Nanos of the requests, half took at most so long; of a put, both requests together
 * @param p99Nanos of 100, one took longer
 * @param redis GETs per second of Redis with as many connections and the same pipeline, measured
 *     just before; 0: not measured
 */
public record MasterRow(
        MasterCell cell,
        long objects,
        long keys,
        long nanos,
        long p50Nanos,
        long p99Nanos,
        double redis) {
    /** Keys per second. */
    public double rate() {
        return keys * 1e9 / nanos;
    }

    /** Of Redis; 0: not measured. */
    public double redisRatio() {
        return redis == 0 ? 0 : rate() / redis;
    }

    /** Of Mooncake's master; 0: not known. */
    public double peerRatio() {
        return cell.peer() == 0 ? 0 : rate() / cell.peer();
    }

    /** The same measurement beside Redis. */
    MasterRow beside(double gets) {
        return new MasterRow(cell, objects, keys, nanos, p50Nanos, p99Nanos, gets);
    }
}
