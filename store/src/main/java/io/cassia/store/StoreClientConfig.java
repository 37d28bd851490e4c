package io.cassia.store;

import io.cassia.transfer.environment.EngineEnvironment;
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
 * @param engine settings of the client's own Transfer Engine
 */
public record StoreClientConfig(
        String master,
        String metadata,
        String localName,
        String tenant,
        Duration deadline,
        EngineEnvironment engine) {
    public static final String P2P = "P2PHANDSHAKE";

    /** With the engine's default settings. */
    public StoreClientConfig(
            String master, String metadata, String localName, String tenant, Duration deadline) {
        this(master, metadata, localName, tenant, deadline, Engines.DEFAULT_SETTINGS);
    }

    public static StoreClientConfig of(String master) {
        return new StoreClientConfig(master, P2P, "127.0.0.1", "default", Duration.ofSeconds(60));
    }

    public StoreClientConfig withEngine(EngineEnvironment value) {
        return new StoreClientConfig(master, metadata, localName, tenant, deadline, value);
    }
}
