package io.cassia.app.bench.store;

import java.util.OptionalDouble;

/**
 * One measurement and what stands beside it. Immutable.
 *
 * @param cell what was measured
 * @param threads callers at once
 * @param objects put or read
 * @param nanos how long it took
 * @param p50Nanos of the calls, half took at most so long
 * @param p99Nanos of 100 calls, one took longer
 * @param rawRate bytes per second of the Transfer Engine alone, same sizes and place
 * @param redisRate bytes per second of redis-benchmark, as many requests in flight
 * @param peerRate objects per second of the peer, on a machine of this kind
 */
public record StoreRow(
        StoreCell cell,
        int threads,
        long objects,
        long nanos,
        long p50Nanos,
        long p99Nanos,
        OptionalDouble rawRate,
        OptionalDouble redisRate,
        OptionalDouble peerRate) {
    /** Bytes per second. */
    public double rate() {
        return objectsPerSecond() * cell.bytes();
    }

    public double objectsPerSecond() {
        return objects * 1e9 / nanos;
    }

    StoreRow beside(OptionalDouble raw, OptionalDouble redis, OptionalDouble peer) {
        return new StoreRow(cell, threads, objects, nanos, p50Nanos, p99Nanos, raw, redis, peer);
    }

    /** Ours by theirs; empty when there is nothing to compare with. */
    public OptionalDouble rawRatio() {
        return ratio(rate(), rawRate);
    }

    public OptionalDouble redisRatio() {
        return ratio(rate(), redisRate);
    }

    public OptionalDouble peerRatio() {
        return ratio(objectsPerSecond(), peerRate);
    }

    private static OptionalDouble ratio(double ours, OptionalDouble theirs) {
        return theirs.isPresent() && theirs.getAsDouble() > 0
                ? OptionalDouble.of(ours / theirs.getAsDouble())
                : OptionalDouble.empty();
    }
}
