package io.cassia.transfer.metadata;

import java.util.Objects;
import java.util.OptionalLong;

/**
 * Where a segment's engine listens (spec 5.4). Immutable.
 *
 * @param host name or address
 * @param rpcPort handshake port
 * @param incarnation start time of the engine in milliseconds since 1970, so that a metadata server
 *     can tell a restart from a second engine of the same name; an extension, absent from other
 *     peers, who ignore it
 */
public record RpcMeta(String host, int rpcPort, OptionalLong incarnation) {
    public RpcMeta {
        Objects.requireNonNull(host);
        Objects.requireNonNull(incarnation);
    }
}
