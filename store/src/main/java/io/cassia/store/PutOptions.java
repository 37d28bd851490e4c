package io.cassia.store;

import io.cassia.rpc.mooncake.ReplicateConfig;

/**
 * How a put stores its object. Immutable.
 *
 * @param replicate replicas, pins, preferences
 */
public record PutOptions(ReplicateConfig replicate) {
    public static final PutOptions DEFAULT = new PutOptions(ReplicateConfig.DEFAULT);
}
