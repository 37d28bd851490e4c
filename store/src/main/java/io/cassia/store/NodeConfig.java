package io.cassia.store;

import io.cassia.transfer.environment.EngineEnvironment;

/**
 * A storage node: memory that it offers to the pool. Immutable.
 *
 * @param master {@code host:port} of the master's RPC
 * @param metadata Transfer Engine metadata: {@code P2PHANDSHAKE} or {@code
 *     http://host:port/metadata}
 * @param localName host under which peers reach this node; also the name of its segments
 * @param segmentBytes memory to offer; 0 for a node that gets its memory later
 * @param longestSegmentBytes more memory than that is mounted as several segments
 * @param engine settings of the node's Transfer Engine
 */
public record NodeConfig(
        String master,
        String metadata,
        String localName,
        long segmentBytes,
        long longestSegmentBytes,
        EngineEnvironment engine) {
    /** Registration and mapping of one segment are one step; this keeps the step short. */
    public static final long LONGEST_SEGMENT_BYTES = 64L << 30;

    public NodeConfig {
        if (longestSegmentBytes < 1) {
            throw new IllegalArgumentException("segments of " + longestSegmentBytes + " bytes");
        }
    }

    /** With the engine's default settings. */
    public NodeConfig(String master, String metadata, String localName, long segmentBytes) {
        this(master, metadata, localName, segmentBytes, Engines.DEFAULT_SETTINGS);
    }

    public NodeConfig(
            String master,
            String metadata,
            String localName,
            long segmentBytes,
            EngineEnvironment engine) {
        this(master, metadata, localName, segmentBytes, LONGEST_SEGMENT_BYTES, engine);
    }

    public NodeConfig withEngine(EngineEnvironment value) {
        return new NodeConfig(
                master, metadata, localName, segmentBytes, longestSegmentBytes, value);
    }

    public NodeConfig withLongestSegment(long bytes) {
        return new NodeConfig(master, metadata, localName, segmentBytes, bytes, engine);
    }
}
