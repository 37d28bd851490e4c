package io.cassia.datadist.exchange;

import io.cassia.datadist.cache.CacheRef;
import io.cassia.datadist.cache.LayerRange;
import java.util.List;

/**
 * One destination of a layer-wise push. Immutable. Source layer {@code L} goes to destination layer
 * {@code dst.first + (L - src.first)}.
 */
public sealed interface LayerPushConfig {
    /** Source layers; {@link LayerRange#ALL} for all. */
    LayerRange srcLayers();

    /** Batch of the source; 0 where blocks are pushed. */
    int srcBatch();

    /** The receiving cluster. */
    long clusterId();

    /**
     * To layers of a peer's cache.
     *
     * @param destination the cache
     * @param srcLayers source layers
     * @param dstLayers destination layers, as many
     * @param srcBatch batch of the source
     */
    record ToCache(CacheRef destination, LayerRange srcLayers, LayerRange dstLayers, int srcBatch)
            implements LayerPushConfig {
        @Override
        public long clusterId() {
            return destination.clusterId();
        }
    }

    /**
     * To addresses inside one cache of a peer.
     *
     * @param clusterId the peer
     * @param dstAddrs two addresses per source layer, K and V, in the order of the layers
     * @param srcLayers source layers
     * @param srcBatch batch of the source
     */
    record ToAddresses(long clusterId, List<Long> dstAddrs, LayerRange srcLayers, int srcBatch)
            implements LayerPushConfig {
        public ToAddresses {
            dstAddrs = List.copyOf(dstAddrs);
        }
    }
}
