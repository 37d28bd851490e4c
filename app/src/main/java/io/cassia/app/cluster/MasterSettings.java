package io.cassia.app.cluster;

import io.cassia.master.MasterConfig;

/**
 * A master and the metadata server beside it. Immutable.
 *
 * @param config the master; the metadata server listens on its RPC host
 * @param metadataPort of the Transfer Engine metadata server; 0 takes a free one, {@link
 *     #NO_METADATA} starts none and engines then find each other by handshake alone
 */
public record MasterSettings(MasterConfig config, int metadataPort) {
    public static final int NO_METADATA = -1;
    public static final int METADATA_PORT = 8080;

    /** For a master of this process alone: a free port, nothing beside it, eviction on demand. */
    public static MasterSettings embedded() {
        return new MasterSettings(
                MasterConfig.builder()
                        .rpc("127.0.0.1", 0)
                        .httpOff()
                        .eviction(1.0, MasterConfig.DEFAULT.evictionRatio())
                        .enableMultiTenants(true)
                        .build(),
                NO_METADATA);
    }
}
