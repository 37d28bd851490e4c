package io.cassia.datadist.cache;

import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;

/**
 * Name of one batch by the request whose KV it holds, or by a shared prefix. Immutable. A request
 * key is consumed by the pull that fetched it, a prefix key is not.
 *
 * @param clusterId owner; ignored when the cache is made
 * @param reqId request, or {@link #NONE}
 * @param modelId model, 0 where there is one only
 * @param prefixId prefix, or {@link #NONE}
 */
public record CacheKey(long clusterId, long reqId, long modelId, long prefixId)
        implements CacheRef {
    /** 2^64-1: no request, no prefix. */
    public static final long NONE = -1L;

    /** The key of a request. */
    public static CacheKey request(long clusterId, long reqId) {
        return new CacheKey(clusterId, reqId, 0, NONE);
    }

    /** The key of a shared prefix. */
    public static CacheKey prefix(long clusterId, long prefixId) {
        return new CacheKey(clusterId, NONE, 0, prefixId);
    }

    /** Stands for a batch that is not used. */
    public static CacheKey placeholder() {
        return new CacheKey(0, NONE, 0, NONE);
    }

    public boolean isPlaceholder() {
        return reqId == NONE && prefixId == NONE;
    }

    public boolean isPrefix() {
        return reqId == NONE && prefixId != NONE;
    }

    /** {@code LLM_PARAM_INVALID} when it names both a request and a prefix. */
    public Outcome<Done> check() {
        return reqId != NONE && prefixId != NONE
                ? Outcome.failed(
                        LlmStatus.LLM_PARAM_INVALID,
                        this + " names a request and a prefix; one of them has to be 2^64-1")
                : Outcome.done();
    }

    @Override
    public String toString() {
        String model = modelId == 0 ? "" : " of model " + Long.toUnsignedString(modelId);
        String cluster = " of cluster " + Long.toUnsignedString(clusterId);
        if (isPlaceholder()) {
            return "placeholder key";
        }
        String prefix = prefixId == NONE ? "" : "prefix " + Long.toUnsignedString(prefixId);
        String request = reqId == NONE ? "" : "request " + Long.toUnsignedString(reqId);
        String both = prefix.isEmpty() || request.isEmpty() ? "" : " and ";
        return request + both + prefix + model + cluster;
    }
}
