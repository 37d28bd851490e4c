package io.cassia.datadist.exchange;

import io.cassia.datadist.cache.BlocksCacheKey;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheKey;
import io.cassia.datadist.cache.CacheRef;
import io.cassia.datadist.link.WireReader;
import io.cassia.datadist.link.WireWriter;

/** Immutable. References to caches on the wire. */
final class Refs {
    private Refs() {}

    static WireWriter write(WireWriter out, CacheRef ref) {
        return switch (ref) {
            case CacheIndex index ->
                    out.u8(1).i64(index.clusterId()).i64(index.cacheId()).i32(index.batchIndex());
            case CacheKey key ->
                    out.u8(2)
                            .i64(key.clusterId())
                            .i64(key.reqId())
                            .i64(key.modelId())
                            .i64(key.prefixId());
            case BlocksCacheKey key -> out.u8(3).i64(key.clusterId()).i64(key.modelId());
        };
    }

    static CacheRef read(WireReader in) {
        int kind = in.u8();
        return switch (kind) {
            case 1 -> new CacheIndex(in.i64(), in.i64(), in.i32());
            case 2 -> new CacheKey(in.i64(), in.i64(), in.i64(), in.i64());
            case 3 -> new BlocksCacheKey(in.i64(), in.i64());
            default -> throw new WireReader.Malformed("reference kind " + kind);
        };
    }
}
