package io.cassia.rpc.mooncake;

/**
 * A range of a segment's memory, as peers address it.
 *
 * @param size bytes
 * @param address absolute address in the owner, an unsigned 64-bit number
 * @param protocol transport of the owner, {@code tcp}
 * @param transportEndpoint Transfer Engine segment name to open
 */
public record BufferDescriptor(
        long size, long address, String protocol, String transportEndpoint) {}
