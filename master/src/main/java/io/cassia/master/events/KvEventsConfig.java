package io.cassia.master.events;

/**
 * How events of stored and removed objects are published (spec mooncake-store 12.5). Immutable.
 *
 * @param endpoint what ZeroMQ binds to, {@code tcp://host:port}
 * @param backendId name of this store in its events
 * @param legacyNames whether events carry the older names of fields too
 * @param objectKeys whether events carry the key; without it only keys that are numbers are
 *     published
 * @param queueCapacity events that wait to be published; the oldest is dropped for more
 */
public record KvEventsConfig(
        String endpoint,
        String backendId,
        boolean legacyNames,
        boolean objectKeys,
        int queueCapacity) {
    /** What upstream's "unbounded" stands for. */
    public static final int LARGEST_QUEUE = 1_000_000;

    public KvEventsConfig {
        if (queueCapacity < 1) {
            throw new IllegalArgumentException("kv events queue capacity " + queueCapacity);
        }
    }
}
