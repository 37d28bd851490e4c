package io.cassia.datadist.link;

import io.cassia.base.ByteString;
import io.cassia.base.Entropy;
import java.nio.ByteBuffer;

/** What an instance is to its peers. Immutable but for the role, which is volatile. */
final class Self {
    private final Entropy entropy = Entropy.system();
    private final long clusterId;
    private final long incarnation = entropy.nextLong();
    private final boolean remoteAccess;
    private final boolean secureData;
    private final String segmentName;
    private volatile LlmRole role;

    Self(long clusterId, LlmRole role, LinkConfig config, String segmentName) {
        this.clusterId = clusterId;
        this.role = role;
        this.remoteAccess = config.remoteAccess();
        this.secureData = config.secureData();
        this.segmentName = segmentName;
    }

    long clusterId() {
        return clusterId;
    }

    LlmRole role() {
        return role;
    }

    void become(LlmRole next) {
        role = next;
    }

    Peer describe() {
        return new Peer(clusterId, role, incarnation, remoteAccess, secureData, segmentName);
    }

    ByteString nonce() {
        return ByteString.wrap(
                ByteBuffer.allocate(Hello.NONCE_BYTES)
                        .putLong(entropy.nextLong())
                        .putLong(entropy.nextLong())
                        .array());
    }
}
