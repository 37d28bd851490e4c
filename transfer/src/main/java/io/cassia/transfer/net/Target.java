package io.cassia.transfer.net;

import io.cassia.base.HostPort;
import java.nio.file.Path;

/** What a connection of the data protocol leads to. Immutable. */
public sealed interface Target {
    /**
     * A port of any host.
     *
     * @param address host and port
     */
    record Port(HostPort address) implements Target {
        @Override
        public String toString() {
            return address.toString();
        }
    }

    /**
     * A socket of this host.
     *
     * @param path its name
     */
    record Socket(Path path) implements Target {
        @Override
        public String toString() {
            return path.toString();
        }
    }
}
