package io.cassia.transfer.topology;

import io.cassia.base.Entropy;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Selects the device for a piece of memory (spec 8.3). Immutable but for the turn that a round
 * robin has reached.
 */
public final class DeviceSelector {
    private final PriorityMatrix matrix;
    private final Set<String> disabled;
    private final Pick pick;

    /** How one of several equally good devices is taken. */
    @FunctionalInterface
    public interface Pick {
        /** A number from 0 to below the bound, which is above 0. */
        int below(int bound);

        static Pick random(Entropy entropy) {
            return bound -> (int) Long.remainderUnsigned(entropy.nextLong(), bound);
        }

        static Pick roundRobin() {
            AtomicInteger turn = new AtomicInteger();
            return bound -> Integer.remainderUnsigned(turn.getAndIncrement(), bound);
        }
    }

    /**
     * A selected device. Immutable.
     *
     * @param index its number in the matrix, by which its key of registered memory is found
     * @param name its name
     */
    public record Device(int index, String name) {}

    /**
     * A selector.
     *
     * @param disabled devices that are never selected; they keep their numbers
     */
    public DeviceSelector(PriorityMatrix matrix, Set<String> disabled, Pick pick) {
        this.matrix = matrix;
        this.disabled = Set.copyOf(disabled);
        this.pick = pick;
    }

    /**
     * The device for memory at a location: at first any of the preferred, or of the others when
     * there are none; at the n-th retry the n-th of both lists, from the start again when they end.
     *
     * <p>ERR_DEVICE_NOT_FOUND when the matrix does not know the location, or has no enabled device
     * for it.
     *
     * @param retry 0 at first
     */
    public Outcome<Device> select(String location, int retry) {
        return select(location, retry, List.of());
    }

    /**
     * As {@link #select(String, int)}, but memory at an unknown location is served by any device.
     */
    public Outcome<Device> selectOrAny(String location, int retry) {
        boolean known = matrix.find(location).isPresent();
        return select(known ? location : Location.WILDCARD, retry);
    }

    /**
     * As {@link #select(String, int)} for the peer's side: at first those that the local device has
     * an affinity to.
     *
     * @param wished devices to take at first, where they serve the location
     */
    public Outcome<Device> select(String location, int retry, List<String> wished) {
        if (retry < 0) {
            throw new IllegalArgumentException("retry " + retry);
        }
        Optional<PriorityMatrix.Entry> entry = matrix.find(location);
        if (entry.isEmpty()) {
            return notFound(location, "the topology knows " + matrix.entries().keySet());
        }
        List<String> preferred = enabled(entry.get().preferred());
        List<String> others = enabled(entry.get().others());
        List<String> all = enabled(entry.get().all());
        if (all.isEmpty()) {
            return notFound(
                    location,
                    matrix.devices().isEmpty()
                            ? "this host has no RDMA device"
                            : "none is enabled of " + entry.get().all());
        }
        if (retry > 0) {
            return Outcome.ok(device(all.get((retry - 1) % all.size())));
        }
        List<String> close = wished.stream().filter(all::contains).distinct().toList();
        List<String> first = !close.isEmpty() ? close : preferred.isEmpty() ? others : preferred;
        return Outcome.ok(device(first.get(pick.below(first.size()))));
    }

    private List<String> enabled(List<String> names) {
        return names.stream().filter(name -> !disabled.contains(name)).toList();
    }

    private Device device(String name) {
        return new Device(matrix.devices().indexOf(name), name);
    }

    private static Outcome<Device> notFound(String location, String why) {
        return Outcome.failed(
                TransferCode.ERR_DEVICE_NOT_FOUND,
                "no device for memory at \"%s\": %s".formatted(location, why));
    }
}
