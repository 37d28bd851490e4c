package io.cassia.datadist;

import io.cassia.datadist.link.IpInfo;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Collections;
import java.util.Optional;

/** Immutable. Chooses the address under which peers reach this host. */
final class HostAddress {
    private static final String LOOPBACK = "127.0.0.1";

    private HostAddress() {}

    /** The address listened on, unless it is a wildcard; else the first one of a network. */
    static String choose(Optional<IpInfo> listen) {
        if (listen.isPresent()) {
            Optional<InetAddress> literal = listen.get().literal();
            boolean wildcard = literal.isPresent() && literal.get().isAnyLocalAddress();
            if (!wildcard) {
                return listen.get().host();
            }
        }
        return ofNetwork().orElse(LOOPBACK);
    }

    private static Optional<String> ofNetwork() {
        try {
            for (NetworkInterface card :
                    Collections.list(NetworkInterface.getNetworkInterfaces())) {
                if (card.isLoopback() || !card.isUp()) {
                    continue;
                }
                for (InetAddress address : Collections.list(card.getInetAddresses())) {
                    if (address instanceof Inet4Address && !address.isLinkLocalAddress()) {
                        return Optional.of(address.getHostAddress());
                    }
                }
            }
            return Optional.empty();
        } catch (SocketException e) {
            return Optional.empty();
        }
    }
}
