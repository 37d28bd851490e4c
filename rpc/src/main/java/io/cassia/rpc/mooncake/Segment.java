package io.cassia.rpc.mooncake;

/**
 * A memory segment that a client offers.
 *
 * @param id chosen by the client
 * @param name the client's host name, shared by all its segments
 * @param base address of the first byte
 * @param size bytes
 * @param teEndpoint Transfer Engine segment name to open
 * @param protocol {@code tcp}, {@code rdma}, ...
 * @param hostId host of the client, or empty
 */
public record Segment(
        Uuid id,
        String name,
        long base,
        long size,
        String teEndpoint,
        String protocol,
        String hostId) {}
