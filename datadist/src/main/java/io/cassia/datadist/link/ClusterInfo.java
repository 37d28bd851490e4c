package io.cassia.datadist.link;

import java.util.List;
import java.util.Optional;

/**
 * A cluster to link with. Immutable.
 *
 * @param remoteClusterId the number that the cluster at that address must answer with
 * @param remoteRole for information
 * @param localIps address to dial from, one at most; its port is not used
 * @param remoteIps where the cluster listens, exactly one; not needed for an unlink
 */
public record ClusterInfo(
        long remoteClusterId,
        Optional<LlmRole> remoteRole,
        List<IpInfo> localIps,
        List<IpInfo> remoteIps) {
    public ClusterInfo {
        localIps = List.copyOf(localIps);
        remoteIps = List.copyOf(remoteIps);
    }

    /** A cluster at an address. */
    public static ClusterInfo of(long remoteClusterId, String host, int port) {
        return new ClusterInfo(
                remoteClusterId, Optional.empty(), List.of(), List.of(new IpInfo(host, port)));
    }

    /** A cluster by its number only, to unlink it. */
    public static ClusterInfo of(long remoteClusterId) {
        return new ClusterInfo(remoteClusterId, Optional.empty(), List.of(), List.of());
    }

    /** Dials from this address. */
    public ClusterInfo from(String localHost) {
        return new ClusterInfo(
                remoteClusterId, remoteRole, List.of(new IpInfo(localHost, 0)), remoteIps);
    }

    @Override
    public String toString() {
        return "cluster "
                + Long.toUnsignedString(remoteClusterId)
                + (remoteIps.isEmpty() ? "" : " at " + remoteIps.getFirst());
    }
}
