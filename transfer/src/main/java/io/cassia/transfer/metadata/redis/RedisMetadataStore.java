package io.cassia.transfer.metadata.redis;

import io.cassia.base.HostPort;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.metadata.BoundedCall;
import io.cassia.transfer.metadata.MetadataOptions;
import io.cassia.transfer.metadata.MetadataStore;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.SetParams;

/**
 * Metadata in a Redis server: {@code GET}, {@code SET} with a time to live, {@code DEL}; values end
 * with a newline (spec 5.3). Guarded by the client's pool of connections.
 */
public final class RedisMetadataStore implements MetadataStore {
    private static final int MAX_CONNECTIONS = 8;
    private static final String NEWLINE = "\n";

    private final HostPort server;
    private final Duration requestTimeout;
    private final SetParams ttl;
    private final RedisClient client;

    private RedisMetadataStore(HostPort server, MetadataOptions options, RedisClient client) {
        this.server = server;
        this.requestTimeout = options.requestTimeout();
        this.ttl = SetParams.setParams().px(options.entryTtl().toMillis());
        this.client = client;
    }

    /** A client of a server. No I/O yet. */
    public static RedisMetadataStore open(HostPort server, MetadataOptions options) {
        MetadataOptions.RedisLogin login = options.redis();
        DefaultJedisClientConfig.Builder config =
                DefaultJedisClientConfig.builder()
                        .connectionTimeoutMillis((int) options.connectTimeout().toMillis())
                        .socketTimeoutMillis((int) options.requestTimeout().toMillis())
                        .database(login.database())
                        .protocol(RedisProtocol.RESP2)
                        .clientSetInfoConfig(ClientSetInfoConfig.DISABLED);
        if (!login.username().isEmpty()) {
            config.user(login.username());
        }
        if (!login.password().isEmpty()) {
            config.password(login.password());
        }
        return new RedisMetadataStore(
                server, options, client(server, config.build(), options.requestTimeout()));
    }

    private static RedisClient client(HostPort server, JedisClientConfig config, Duration maxWait) {
        GenericObjectPoolConfig<Connection> pool = new GenericObjectPoolConfig<>();
        pool.setMaxTotal(MAX_CONNECTIONS);
        pool.setMaxIdle(MAX_CONNECTIONS);
        pool.setMaxWait(maxWait);
        pool.setJmxEnabled(false);
        return RedisClient.builder()
                .hostAndPort(new HostAndPort(server.host(), server.port()))
                .clientConfig(config)
                .poolConfig(pool)
                .build();
    }

    @Override
    public Outcome<Optional<String>> find(String key, Duration timeout) {
        return call("GET", key, timeout, () -> Optional.ofNullable(client.get(key)))
                .map(found -> found.map(RedisMetadataStore::withoutNewline));
    }

    private static String withoutNewline(String value) {
        return value.endsWith(NEWLINE) ? value.substring(0, value.length() - 1) : value;
    }

    @Override
    public Outcome<Done> put(String key, String value) {
        return call("SET", key, requestTimeout, () -> client.set(key, value + NEWLINE, ttl))
                .then(_ -> Outcome.done());
    }

    @Override
    public Outcome<Done> remove(String key) {
        return call("DEL", key, requestTimeout, () -> client.del(key)).then(_ -> Outcome.done());
    }

    private <T> Outcome<T> call(String command, String key, Duration timeout, Supplier<T> call) {
        return BoundedCall.run(
                "%s %s at redis://%s".formatted(command, key, server),
                timeout,
                () -> {
                    try {
                        return Outcome.ok(again(call));
                    } catch (JedisException e) {
                        return Outcome.failed(
                                TransferCode.ERR_METADATA,
                                "%s %s at redis://%s: %s"
                                        .formatted(command, key, server, BoundedCall.describe(e)));
                    }
                });
    }

    /**
     * Makes a call, and once more when its connection was broken: those of the pool do not survive
     * a restart of the server. All calls may be made twice.
     */
    private <T> T again(Supplier<T> call) {
        try {
            return call.get();
        } catch (JedisConnectionException e) {
            if (e.getCause() instanceof SocketTimeoutException) {
                throw e;
            }
            client.getPool().clear();
            return call.get();
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
