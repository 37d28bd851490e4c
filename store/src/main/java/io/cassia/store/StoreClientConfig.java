package io.cassia.store;

import java.time.Duration;

/**
 * How a client reaches its cluster. Immutable.
 *
 * @param master {@code host:port} of the master's RPC
 * @param metadata Transfer Engine metadata: {@code P2PHANDSHAKE} or {@code
 *     http://host:port/metadata}
 * @param localName host under which this process is reachable by nodes; a port is chosen
 * @param tenant namespace of all keys
 * @param deadline for one call, all its round trips and transfers included
 */
public record StoreClientConfig(
        String master, String metadata, String localName, String tenant, Duration deadline) {
    public static final String P2P = "P2PHANDSHAKE";

    public static StoreClientConfig of(String master) {
        return new StoreClientConfig(master, P2P, "127.0.0.1", "default", Duration.ofSeconds(60));
    }
}
