package io.cassia.transfer.metadata;

import java.time.Duration;
import java.util.Objects;

/**
 * How a metadata store is used. Immutable; start from {@link #DEFAULT}.
 *
 * @param cluster part of the keys that separates clusters in one store, or empty
 * @param redis login of a Redis server
 * @param connectTimeout for a connection to the store
 * @param requestTimeout for one put or remove, connecting included
 * @param entryTtl entries vanish so long after the last heartbeat of their engine, in stores that
 *     can do so; at least two heartbeats, so that one may be missed
 * @param heartbeat how often entries are looked after
 */
public record MetadataOptions(
        String cluster,
        RedisLogin redis,
        Duration connectTimeout,
        Duration requestTimeout,
        Duration entryTtl,
        Duration heartbeat) {
    /** How long entries outlive their engine: three heartbeats, and a slow one. */
    static final Duration ENTRY_TTL = Duration.ofSeconds(35);

    /** How often entries are looked after. */
    static final Duration HEARTBEAT = Duration.ofSeconds(10);

    /** The longest of upstream's timeouts, that of etcd, and the heartbeat of Cassia's engines. */
    public static final MetadataOptions DEFAULT =
            new MetadataOptions(
                    "",
                    RedisLogin.NONE,
                    Duration.ofMillis(1500),
                    Duration.ofSeconds(5),
                    ENTRY_TTL,
                    HEARTBEAT);

    /**
     * Login of a Redis server. Immutable.
     *
     * @param username or empty
     * @param password or empty
     * @param database number of the database
     */
    public record RedisLogin(String username, String password, int database) {
        /** The server's default user and first database. */
        public static final RedisLogin NONE = new RedisLogin("", "", 0);

        public RedisLogin {
            Objects.requireNonNull(username);
            Objects.requireNonNull(password);
            if (database < 0) {
                throw new IllegalArgumentException("database " + database);
            }
        }

        /** Without the password: records are logged. */
        @Override
        public String toString() {
            return "RedisLogin[username=%s, password=%s, database=%d]"
                    .formatted(username, password.isEmpty() ? "" : "***", database);
        }
    }

    public MetadataOptions {
        Objects.requireNonNull(cluster);
        Objects.requireNonNull(redis);
        requirePositive("connectTimeout", connectTimeout);
        requirePositive("requestTimeout", requestTimeout);
        requirePositive("heartbeat", heartbeat);
        if (entryTtl.compareTo(heartbeat.multipliedBy(2)) < 0) {
            throw new IllegalArgumentException(
                    "entryTtl %s is below two heartbeats of %s".formatted(entryTtl, heartbeat));
        }
    }

    private static void requirePositive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + " " + value);
        }
    }

    public MetadataOptions withCluster(String value) {
        return new MetadataOptions(
                value, redis, connectTimeout, requestTimeout, entryTtl, heartbeat);
    }

    public MetadataOptions withRedis(RedisLogin value) {
        return new MetadataOptions(
                cluster, value, connectTimeout, requestTimeout, entryTtl, heartbeat);
    }

    public MetadataOptions withTimeouts(Duration connect, Duration request) {
        return new MetadataOptions(cluster, redis, connect, request, entryTtl, heartbeat);
    }

    /** How often entries are looked after, and how long they outlive that. */
    public MetadataOptions withHeartbeat(Duration interval, Duration ttl) {
        return new MetadataOptions(cluster, redis, connectTimeout, requestTimeout, ttl, interval);
    }
}
