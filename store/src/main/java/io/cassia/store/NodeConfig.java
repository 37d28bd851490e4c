package io.cassia.store;

import io.cassia.transfer.environment.EngineEnvironment;

/**
 * A storage node: memory that it offers to the pool. Immutable.
 *
 * @param master {@code host:port} of the master's RPC
 * @param metadata Transfer Engine metadata: {@code P2PHANDSHAKE} or {@code
 *     http://host:port/metadata}
 * @param localName host under which peers reach this node; also the name of its segments
 * @param segmentBytes memory to offer
 * @param engine settings of the node's Transfer Engine
 */
public record NodeConfig(
        String master,
        String metadata,
        String localName,
        long segmentBytes,
        EngineEnvironment engine) {
    /** With the engine's default settings. */
    public NodeConfig(String master, String metadata, String localName, long segmentBytes) {
        this(master, metadata, localName, segmentBytes, Engines.DEFAULT_SETTINGS);
    }

    public NodeConfig withEngine(EngineEnvironment value) {
        return new NodeConfig(master, metadata, localName, segmentBytes, value);
    }
}
