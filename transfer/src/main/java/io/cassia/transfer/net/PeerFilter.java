package io.cassia.transfer.net;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * From which networks peers may come. Immutable.
 *
 * @param networks in the form {@code address} or {@code address/bits}; none: from everywhere
 */
public record PeerFilter(List<Network> networks) {
    /** Everybody may come. */
    public static final PeerFilter ALL = new PeerFilter(List.of());

    /**
     * Addresses that begin with the same bits. Immutable.
     *
     * @param address any of them
     * @param bits how many are the same
     */
    public record Network(InetAddress address, int bits) {
        public Network {
            if (bits < 0 || bits > address.getAddress().length * Byte.SIZE) {
                throw new IllegalArgumentException(address.getHostAddress() + "/" + bits);
            }
        }

        private static Network parse(String text) {
            int slash = text.indexOf('/');
            InetAddress address =
                    InetAddress.ofLiteral(slash < 0 ? text : text.substring(0, slash));
            return new Network(
                    address,
                    slash < 0
                            ? address.getAddress().length * Byte.SIZE
                            : Integer.parseInt(text.substring(slash + 1)));
        }

        boolean holds(InetAddress other) {
            byte[] ours = address.getAddress();
            byte[] theirs = other.getAddress();
            if (ours.length != theirs.length) {
                return false;
            }
            int whole = bits / Byte.SIZE;
            int rest = bits % Byte.SIZE;
            return Arrays.equals(ours, 0, whole, theirs, 0, whole)
                    && (rest == 0
                            || ((ours[whole] ^ theirs[whole]) & 0xff) >> (Byte.SIZE - rest) == 0);
        }

        @Override
        public String toString() {
            return address.getHostAddress() + "/" + bits;
        }
    }

    public PeerFilter {
        networks = List.copyOf(networks);
    }

    /**
     * Reads a comma list; a blank one lets everybody come. IllegalArgumentException when an entry
     * is no network.
     */
    public static PeerFilter parse(String list) {
        return new PeerFilter(
                Stream.of(list.split(",", -1))
                        .map(String::strip)
                        .filter(text -> !text.isEmpty())
                        .map(Network::parse)
                        .toList());
    }

    /** Whether everybody may come: then nobody need be asked where from. */
    public boolean isOpen() {
        return networks.isEmpty();
    }

    /** Whether a peer may come; those at a socket of this host have shown who they are. */
    public boolean allows(SocketAddress peer) {
        return isOpen()
                || !(peer instanceof InetSocketAddress from)
                || networks.stream().anyMatch(network -> network.holds(from.getAddress()));
    }
}
