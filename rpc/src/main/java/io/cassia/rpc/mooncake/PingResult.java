package io.cassia.rpc.mooncake;

/**
 * Answer of Ping.
 *
 * @param viewVersion version of the HA view
 * @param clientStatus number of a {@link ClientStatus}
 */
public record PingResult(long viewVersion, int clientStatus) {}
