package io.cassia.store;

import io.cassia.transfer.Security;
import io.cassia.transfer.environment.EngineEnvironment;
import java.time.Duration;

/**
 * How a client reaches its cluster. Immutable.
 *
 * @param master {@code host:port} of the master's RPC
 * @param metadata Transfer Engine metadata: {@code P2PHANDSHAKE} or {@code
 *     http://host:port/metadata}
 * @param localName host under which this process is reachable by nodes; a port is chosen
 * @param tenant namespace of all keys
 * @param deadline for one call, all its round trips and transfers included
 * @param engine settings of the client's own Transfer Engine
 * @param memory what the client may use for itself
 * @param calls how the master is asked
 * @param security how client and nodes prove to each other who they are; the master is spoken to in
 *     plain text always
 */
public record StoreClientConfig(
        String master,
        String metadata,
        String localName,
        String tenant,
        Duration deadline,
        EngineEnvironment engine,
        Memory memory,
        Calls calls,
        Security security) {
    public static final String P2P = "P2PHANDSHAKE";

    /**
     * Memory and effort of a client. Immutable.
     *
     * @param localBufferBytes for bytes that cannot go straight to or from the caller's memory:
     *     heap arrays, edges of ranges, streams
     * @param hotCacheBytes for copies of remote objects that are read again and again; 0 for none
     * @param hotBlockBytes larger objects are not copied
     * @param crc64 whether puts also carry upstream's checksum, for Mooncake clients that verify it
     * @param sums whether puts leave the checksums of their chunks; without, nobody can prove the
     *     bytes of these objects. Only measurements of what they cost do without
     * @param reserve whether a client that puts one thing like the other has space reserved for the
     *     next one, so that a put is one trip to the master; up to 4 MiB of the pool then are this
     *     client's for two seconds after its last put
     */
    public record Memory(
            long localBufferBytes,
            long hotCacheBytes,
            long hotBlockBytes,
            boolean crc64,
            boolean sums,
            boolean reserve) {
        public static final Memory DEFAULT = new Memory(64L << 20, 0, 16L << 20, false, true, true);

        public Memory {
            if (localBufferBytes < Checksums.CHUNK_BYTES
                    || hotCacheBytes < 0
                    || hotBlockBytes < 1) {
                throw new IllegalArgumentException(
                        "local buffer of %d bytes, hot cache of %d, its blocks of %d"
                                .formatted(localBufferBytes, hotCacheBytes, hotBlockBytes));
            }
        }

        public Memory withLocalBuffer(long bytes) {
            return new Memory(bytes, hotCacheBytes, hotBlockBytes, crc64, sums, reserve);
        }

        public Memory withHotCache(long bytes) {
            return new Memory(localBufferBytes, bytes, hotBlockBytes, crc64, sums, reserve);
        }

        public Memory withHotBlock(long bytes) {
            return new Memory(localBufferBytes, hotCacheBytes, bytes, crc64, sums, reserve);
        }

        public Memory withCrc64(boolean wanted) {
            return new Memory(
                    localBufferBytes, hotCacheBytes, hotBlockBytes, wanted, sums, reserve);
        }

        public Memory withSums(boolean wanted) {
            return new Memory(
                    localBufferBytes, hotCacheBytes, hotBlockBytes, crc64, wanted, reserve);
        }

        public Memory withReserve(boolean wanted) {
            return new Memory(localBufferBytes, hotCacheBytes, hotBlockBytes, crc64, sums, wanted);
        }
    }

    /**
     * How the master is asked. Immutable.
     *
     * @param connectTimeout for one attempt to connect
     * @param retryTime how long a call that changes nothing is tried again when the connection
     *     breaks, so that a master that restarts is not noticed; zero: not at all
     */
    public record Calls(Duration connectTimeout, Duration retryTime) {
        public static final Calls DEFAULT =
                new Calls(Duration.ofSeconds(30), Duration.ofSeconds(3));

        public Calls {
            if (!connectTimeout.isPositive() || retryTime.isNegative()) {
                throw new IllegalArgumentException(
                        "connect timeout of %s, retries for %s"
                                .formatted(connectTimeout, retryTime));
            }
        }
    }

    /** With the engine's default settings. */
    public StoreClientConfig(
            String master, String metadata, String localName, String tenant, Duration deadline) {
        this(
                master,
                metadata,
                localName,
                tenant,
                deadline,
                Engines.DEFAULT_SETTINGS,
                Memory.DEFAULT,
                Calls.DEFAULT,
                Security.PLAIN);
    }

    public static StoreClientConfig of(String master) {
        return new StoreClientConfig(master, P2P, "127.0.0.1", "default", Duration.ofSeconds(60));
    }

    public StoreClientConfig withEngine(EngineEnvironment value) {
        return new StoreClientConfig(
                master, metadata, localName, tenant, deadline, value, memory, calls, security);
    }

    public StoreClientConfig withMemory(Memory value) {
        return new StoreClientConfig(
                master, metadata, localName, tenant, deadline, engine, value, calls, security);
    }

    public StoreClientConfig withCalls(Calls value) {
        return new StoreClientConfig(
                master, metadata, localName, tenant, deadline, engine, memory, value, security);
    }

    public StoreClientConfig withSecurity(Security value) {
        return new StoreClientConfig(
                master, metadata, localName, tenant, deadline, engine, memory, calls, value);
    }
}
