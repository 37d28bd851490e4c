package io.cassia.datadist.bench;

import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.DataType;

/**
 * Shape of a model's KV cache. Immutable.
 *
 * @param name model
 * @param layers layers, with one K and one V tensor each
 * @param kvHeads heads that have KV
 * @param headDim numbers per head and token
 * @param dataType type of each number
 * @param blockTokens tokens of a block of a paged cache
 */
public record KvGeometry(
        String name, int layers, int kvHeads, int headDim, DataType dataType, int blockTokens) {
    /** 128 KiB per token; a block of 16 tokens is 32 KiB per tensor. */
    public static final KvGeometry LLAMA_3_8B =
            new KvGeometry("Llama-3-8B", 32, 8, 128, DataType.BF16, 16);

    /** Bytes of one token in all layers. */
    public long tokenBytes() {
        return 2L * layers * tokenBytesPerTensor();
    }

    private long tokenBytesPerTensor() {
        return (long) kvHeads * headDim * dataType.bytes();
    }

    /** A cache of whole requests: one batch each, of so many tokens. */
    public CacheDesc batches(int batches, int tokens) {
        return CacheDesc.device(2 * layers, dataType, batches, tokens, kvHeads, headDim);
    }

    /** A cache of blocks. */
    public CacheDesc blocks(int blocks) {
        return CacheDesc.device(2 * layers, dataType, blocks, blockTokens, kvHeads, headDim);
    }
}
