package io.cassia.transfer.topology;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;

/** Tells the addresses of network interfaces, which sysfs does not show. */
@FunctionalInterface
public interface InterfaceAddresses {
    /** Literals without scope; none when there is no such interface. */
    List<String> of(String interfaceName);

    /** Those of this machine. */
    static InterfaceAddresses system() {
        return InterfaceAddresses::ofThisHost;
    }

    private static List<String> ofThisHost(String interfaceName) {
        try {
            NetworkInterface found = NetworkInterface.getByName(interfaceName);
            return found == null
                    ? List.of()
                    : found.inetAddresses().map(InterfaceAddresses::literal).toList();
        } catch (SocketException e) {
            // It went away between two looks.
            return List.of();
        }
    }

    private static String literal(InetAddress address) {
        String text = address.getHostAddress();
        int scope = text.indexOf('%');
        return scope < 0 ? text : text.substring(0, scope);
    }
}
