package io.cassia.transfer.metadata;

import io.cassia.status.Outcome;
import io.cassia.transfer.metadata.etcd.EtcdMetadataStore;
import io.cassia.transfer.metadata.redis.RedisMetadataStore;
import java.util.Optional;

/**
 * Opens the store of an address. Immutable. The clients of etcd and Redis are large: their classes
 * are loaded by the first store of their kind and not before.
 */
public final class MetadataStores {
    private MetadataStores() {}

    /**
     * The store; nothing for peers that ask each other. No I/O: a store that cannot be reached
     * fails its first request with ERR_METADATA.
     */
    public static Outcome<Optional<MetadataStore>> open(
            MetadataAddress address, MetadataOptions options) {
        return switch (address) {
            case MetadataAddress.Peers() -> Outcome.ok(Optional.empty());
            case MetadataAddress.Http(String uri) ->
                    HttpMetadataStore.open(uri, options.connectTimeout(), options.requestTimeout())
                            .map(Optional::of);
            case MetadataAddress.Etcd etcd ->
                    Outcome.ok(Optional.of(EtcdMetadataStore.open(etcd, options)));
            case MetadataAddress.Redis(var server) ->
                    Outcome.ok(Optional.of(RedisMetadataStore.open(server, options)));
        };
    }

    /** As {@link #open(MetadataAddress, MetadataOptions)} for a connection string. */
    public static Outcome<Optional<MetadataStore>> open(
            String connection, MetadataOptions options) {
        return MetadataAddress.parse(connection).then(address -> open(address, options));
    }
}
