package io.cassia.datadist.link;

import io.cassia.base.ByteString;
import java.security.SecureRandom;

/** What an instance is to its peers. Immutable but for the role, which is volatile. */
final class Self {
    private final SecureRandom random = new SecureRandom();
    private final long clusterId;
    private final long incarnation = random.nextLong();
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
        byte[] bytes = new byte[Hello.NONCE_BYTES];
        random.nextBytes(bytes);
        return ByteString.wrap(bytes);
    }
}
