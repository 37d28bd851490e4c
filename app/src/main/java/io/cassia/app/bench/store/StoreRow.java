package io.cassia.app.bench.store;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * One measurement and what stands beside it: medians over rounds, in each of which all were
 * measured in turn. A ratio is the median of those of the rounds, since other work on the machine
 * weighs on both sides of it. Immutable.
 *
 * @param cell what was measured
 * @param threads callers at once
 * @param rounds at least one
 * @param peerRate objects per second of the peer, on a machine of this kind
 */
public record StoreRow(StoreCell cell, int threads, List<Round> rounds, OptionalDouble peerRate) {
    public StoreRow {
        rounds = List.copyOf(rounds);
        if (rounds.isEmpty()) {
            throw new IllegalArgumentException("nothing was measured");
        }
    }

    /**
     * Bytes per second. Immutable.
     *
     * @param mean of the whole time
     * @param typical of the call in the middle: what it is when nothing else wants the processors
     */
    public record Rate(double mean, double typical) {}

    /**
     * One round. Immutable.
     *
     * @param objects put or read
     * @param nanos how long it took
     * @param p50Nanos of the calls, half took at most so long
     * @param p99Nanos of 100 calls, one took longer
     * @param raw the Transfer Engine alone, same sizes and place
     * @param redisRate bytes per second of redis-benchmark with as many requests in flight
     * @param uncheckedNanos of the call in the middle, for objects without checksums
     */
    public record Round(
            long objects,
            long nanos,
            long p50Nanos,
            long p99Nanos,
            Optional<Rate> raw,
            OptionalDouble redisRate,
            OptionalLong uncheckedNanos) {}

    private double median(Function<Round, OptionalDouble> figure) {
        double[] known =
                rounds.stream()
                        .map(figure)
                        .filter(OptionalDouble::isPresent)
                        .mapToDouble(OptionalDouble::getAsDouble)
                        .sorted()
                        .toArray();
        return known.length == 0
                ? Double.NaN
                : (known[(known.length - 1) / 2] + known[known.length / 2]) / 2;
    }

    private OptionalDouble medianOrNone(Function<Round, OptionalDouble> figure) {
        double median = median(figure);
        return Double.isNaN(median) ? OptionalDouble.empty() : OptionalDouble.of(median);
    }

    private Rate rate(Round round) {
        return new Rate(
                round.objects * 1e9 / round.nanos * cell.bytes(),
                threads * (double) cell.batch() * 1e9 / Math.max(1, round.p50Nanos) * cell.bytes());
    }

    /** Of objects with checksums. */
    public Rate rate() {
        return new Rate(
                median(round -> OptionalDouble.of(rate(round).mean)),
                median(round -> OptionalDouble.of(rate(round).typical)));
    }

    public double objectsPerSecond() {
        return rate().mean / cell.bytes();
    }

    public long p50Nanos() {
        return Math.round(median(round -> OptionalDouble.of((double) round.p50Nanos)));
    }

    public long p99Nanos() {
        return Math.round(median(round -> OptionalDouble.of((double) round.p99Nanos)));
    }

    /** The engine alone; empty when there is nothing to compare with. */
    public Optional<Rate> raw() {
        OptionalDouble typical = medianOrNone(StoreRow::rawTypical);
        return typical.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        new Rate(
                                median(
                                        round ->
                                                round.raw
                                                        .map(raw -> OptionalDouble.of(raw.mean))
                                                        .orElse(OptionalDouble.empty())),
                                typical.getAsDouble()));
    }

    private static OptionalDouble rawTypical(Round round) {
        return round.raw.isPresent() && round.raw.get().typical > 0
                ? OptionalDouble.of(round.raw.get().typical)
                : OptionalDouble.empty();
    }

    public OptionalDouble redisRate() {
        return medianOrNone(Round::redisRate);
    }

    public OptionalLong uncheckedNanos() {
        OptionalDouble nanos = medianOrNone(StoreRow::unchecked);
        return nanos.isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(Math.round(nanos.getAsDouble()));
    }

    private static OptionalDouble unchecked(Round round) {
        return round.uncheckedNanos.isPresent()
                ? OptionalDouble.of((double) round.uncheckedNanos.getAsLong())
                : OptionalDouble.empty();
    }

    /** Ours by the engine's, of the typical rates. */
    public OptionalDouble rawRatio() {
        return medianOrNone(round -> over(rate(round).typical, rawTypical(round)));
    }

    /** Ours by that of redis-benchmark, of the whole times: it tells nothing else. */
    public OptionalDouble redisRatio() {
        return medianOrNone(round -> over(rate(round).mean, round.redisRate));
    }

    /** The engine's alone by that of redis-benchmark, of the whole times. */
    public OptionalDouble rawByRedis() {
        return medianOrNone(
                round ->
                        round.raw.isEmpty()
                                ? OptionalDouble.empty()
                                : over(round.raw.get().mean, round.redisRate));
    }

    /** Share of the typical time that checksums take; below 0 when less than the noise. */
    public OptionalDouble checksumShare() {
        return medianOrNone(
                round ->
                        round.uncheckedNanos.isPresent()
                                ? OptionalDouble.of(
                                        1
                                                - round.uncheckedNanos.getAsLong()
                                                        / (double) Math.max(1, round.p50Nanos))
                                : OptionalDouble.empty());
    }

    /** Typical rate by the peer's, which was measured on a quiet machine. */
    public OptionalDouble peerRatio() {
        return over(rate().typical / cell.bytes(), peerRate);
    }

    private static OptionalDouble over(double ours, OptionalDouble theirs) {
        return theirs.isPresent() && theirs.getAsDouble() > 0
                ? OptionalDouble.of(ours / theirs.getAsDouble())
                : OptionalDouble.empty();
    }
}
