package io.cassia.transfer.topology;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Which RDMA devices may be used (spec 8.2). Immutable.
 *
 * @param names the allowed ones; empty allows all
 */
public record DeviceFilter(Set<String> names) {
    public static final DeviceFilter ALL = new DeviceFilter(Set.of());

    public DeviceFilter {
        names = Set.copyOf(names);
    }

    /** Reads a comma list; a blank one allows all. */
    public static DeviceFilter parse(String list) {
        List<String> names =
                Stream.of(list.split(",", -1))
                        .map(String::strip)
                        .filter(n -> !n.isEmpty())
                        .toList();
        return new DeviceFilter(Set.copyOf(names));
    }

    public boolean allows(String device) {
        return names.isEmpty() || names.contains(device);
    }
}
