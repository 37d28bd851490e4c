package io.cassia.store;

/**
 * A storage node: memory that it offers to the pool. Immutable.
 *
 * @param master {@code host:port} of the master's RPC
 * @param metadata Transfer Engine metadata: {@code P2PHANDSHAKE} or {@code
 *     http://host:port/metadata}
 * @param localName host under which peers reach this node; also the name of its segments
 * @param segmentBytes memory to offer
 */
public record NodeConfig(String master, String metadata, String localName, long segmentBytes) {}
