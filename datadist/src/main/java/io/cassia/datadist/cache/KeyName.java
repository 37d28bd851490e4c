package io.cassia.datadist.cache;

/**
 * What a key is inside its owner, where the cluster id means nothing. Immutable.
 *
 * @param kind which numeric space {@code id} is from
 * @param id request or prefix; 0 for blocks
 * @param modelId model
 */
record KeyName(Kind kind, long id, long modelId) {
    enum Kind {
        REQUEST,
        PREFIX,
        BLOCKS
    }

    static KeyName of(CacheKey key) {
        return key.isPrefix()
                ? new KeyName(Kind.PREFIX, key.prefixId(), key.modelId())
                : new KeyName(Kind.REQUEST, key.reqId(), key.modelId());
    }

    static KeyName of(BlocksCacheKey key) {
        return new KeyName(Kind.BLOCKS, 0, key.modelId());
    }

    @Override
    public String toString() {
        String model = modelId == 0 ? "" : " of model " + Long.toUnsignedString(modelId);
        return switch (kind) {
            case REQUEST -> "request key " + Long.toUnsignedString(id) + model;
            case PREFIX -> "prefix key " + Long.toUnsignedString(id) + model;
            case BLOCKS -> "blocks key of model " + Long.toUnsignedString(modelId);
        };
    }
}
