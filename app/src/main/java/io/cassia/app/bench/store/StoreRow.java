package io.cassia.app.bench.store;

import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * One measurement and what stands beside it. Immutable.
 *
 * @param cell what was measured
 * @param threads callers at once
 * @param objects put or read
 * @param nanos how long it took
 * @param p50Nanos of the calls, half took at most so long
 * @param p99Nanos of 100 calls, one took longer
 * @param raw the Transfer Engine alone, same sizes and place
 * @param redisRate bytes per second of redis-benchmark with as many requests in flight
 * @param uncheckedNanos of the call in the middle, for objects without checksums
 * @param peerRate objects per second of the peer, on a machine of this kind
 */
public record StoreRow(
        StoreCell cell,
        int threads,
        long objects,
        long nanos,
        long p50Nanos,
        long p99Nanos,
        Optional<Rate> raw,
        OptionalDouble redisRate,
        OptionalLong uncheckedNanos,
        OptionalDouble peerRate) {
    /**
     * Bytes per second. Immutable.
     *
     * @param mean of the whole time
     * @param typical of the call in the middle: what it is when nothing else wants the processors
     */
    public record Rate(double mean, double typical) {}

    public Rate rate() {
        return new Rate(
                objectsPerSecond() * cell.bytes(), typicalObjectsPerSecond() * cell.bytes());
    }

    /** Objects per second, if each call took as long as the one in the middle. */
    public double typicalObjectsPerSecond() {
        return threads * (double) cell.batch() * 1e9 / Math.max(1, p50Nanos);
    }

    public double objectsPerSecond() {
        return objects * 1e9 / nanos;
    }

    StoreRow beside(
            Optional<Rate> rawRate,
            OptionalDouble redis,
            OptionalLong unchecked,
            OptionalDouble peer) {
        return new StoreRow(
                cell, threads, objects, nanos, p50Nanos, p99Nanos, rawRate, redis, unchecked, peer);
    }

    /** Ours by the engine's, of the typical rates; empty when there is nothing to compare with. */
    public OptionalDouble rawRatio() {
        return raw.isPresent() && raw.get().typical > 0
                ? OptionalDouble.of(rate().typical / raw.get().typical)
                : OptionalDouble.empty();
    }

    /** Ours by that of redis-benchmark, of the whole times: it tells nothing else. */
    public OptionalDouble redisRatio() {
        return redisRate.isPresent()
                ? OptionalDouble.of(rate().mean / redisRate.getAsDouble())
                : OptionalDouble.empty();
    }

    /** Share of the typical time that checksums take; below 0 when less than the noise. */
    public OptionalDouble checksumShare() {
        return uncheckedNanos.isPresent()
                ? OptionalDouble.of(1 - uncheckedNanos.getAsLong() / (double) p50Nanos)
                : OptionalDouble.empty();
    }

    /** Typical rate by the peer's, which was measured on a quiet machine. */
    public OptionalDouble peerRatio() {
        return peerRate.isPresent()
                ? OptionalDouble.of(typicalObjectsPerSecond() / peerRate.getAsDouble())
                : OptionalDouble.empty();
    }
}
