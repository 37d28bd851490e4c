package io.cassia.transfer.topology;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A network interface. Immutable.
 *
 * @param name the kernel's name
 * @param up whether it is switched on and has a carrier, as far as it can tell
 * @param loopback whether it reaches this host only
 * @param speedMbps megabits per second; absent when down, virtual or unknown to its driver
 * @param mtuBytes largest packet; 0 when unknown
 * @param numaNode node next to it; absent when the host has one only or the device is virtual
 * @param pciAddress its device; absent for virtual interfaces
 * @param addresses literals without scope
 */
public record NetworkLink(
        String name,
        boolean up,
        boolean loopback,
        OptionalInt speedMbps,
        int mtuBytes,
        OptionalInt numaNode,
        Optional<String> pciAddress,
        List<String> addresses) {
    public NetworkLink {
        Objects.requireNonNull(name);
        Objects.requireNonNull(speedMbps);
        Objects.requireNonNull(numaNode);
        Objects.requireNonNull(pciAddress);
        addresses = List.copyOf(addresses);
    }
}
