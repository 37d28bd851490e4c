package io.cassia.transfer.metadata;

/**
 * Keys in a metadata store (spec 5.2). Immutable.
 *
 * @param prefix {@code mooncake/} or {@code mooncake/<cluster>/}
 */
record MetadataKeys(String prefix) {
    /** The part of a key that marks an engine's endpoint. */
    static final String RPC_META = "rpc_meta/";

    /** The part of a key that marks a memory segment. */
    static final String RAM = "ram/";

    /** Keys of a cluster; an empty name means the only one. */
    static MetadataKeys of(String cluster) {
        if (cluster.isEmpty()) {
            return new MetadataKeys("mooncake/");
        }
        return new MetadataKeys("mooncake/" + cluster + (cluster.endsWith("/") ? "" : "/"));
    }

    String segment(String name) {
        return name.indexOf('/') >= 0 ? prefix + name : prefix + RAM + name;
    }

    String rpcMeta(String name) {
        return prefix + RPC_META + name;
    }
}
