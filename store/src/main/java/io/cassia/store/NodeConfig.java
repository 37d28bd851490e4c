package io.cassia.store;

import io.cassia.transfer.Security;
import io.cassia.transfer.environment.EngineEnvironment;
import java.time.Duration;

/**
 * A storage node: memory that it offers to the pool. Immutable.
 *
 * @param master {@code host:port} of the master's RPC
 * @param metadata Transfer Engine metadata: {@code P2PHANDSHAKE} or {@code
 *     http://host:port/metadata}
 * @param localName host under which peers reach this node; also the name of its segments
 * @param segmentBytes memory to offer; 0 for a node that gets its memory later
 * @param longestSegmentBytes more memory than that is mounted as several segments
 * @param drainTime how long a node that is closed may take to have its objects moved to others;
 *     zero: it leaves at once, and what was stored in it is gone
 * @param engine settings of the node's Transfer Engine
 * @param security how the node and its peers prove to each other who they are; the master is spoken
 *     to in plain text always
 */
public record NodeConfig(
        String master,
        String metadata,
        String localName,
        long segmentBytes,
        long longestSegmentBytes,
        Duration drainTime,
        EngineEnvironment engine,
        Security security) {
    /** Registration and mapping of one segment are one step; this keeps the step short. */
    public static final long LONGEST_SEGMENT_BYTES = 64L << 30;

    public NodeConfig {
        if (longestSegmentBytes < 1 || drainTime.isNegative()) {
            throw new IllegalArgumentException(
                    "segments of %d bytes, drain time of %s"
                            .formatted(longestSegmentBytes, drainTime));
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
        this(
                master,
                metadata,
                localName,
                segmentBytes,
                LONGEST_SEGMENT_BYTES,
                Duration.ZERO,
                engine,
                Security.PLAIN);
    }

    /** The same for another cluster. */
    public NodeConfig withCluster(String masterAddress, String metadataAddress) {
        return new NodeConfig(
                masterAddress,
                metadataAddress,
                localName,
                segmentBytes,
                longestSegmentBytes,
                drainTime,
                engine,
                security);
    }

    public NodeConfig withEngine(EngineEnvironment value) {
        return with(longestSegmentBytes, drainTime, value, security);
    }

    public NodeConfig withLongestSegment(long bytes) {
        return with(bytes, drainTime, engine, security);
    }

    public NodeConfig withDrainTime(Duration value) {
        return with(longestSegmentBytes, value, engine, security);
    }

    public NodeConfig withSecurity(Security value) {
        return with(longestSegmentBytes, drainTime, engine, value);
    }

    private NodeConfig with(
            long longest, Duration drain, EngineEnvironment settings, Security proofs) {
        return new NodeConfig(
                master, metadata, localName, segmentBytes, longest, drain, settings, proofs);
    }
}
