package io.cassia.app.cluster;

import io.cassia.base.config.SettingsMarkdown;

/**
 * The part of {@code docs/configuration.md} about clients and nodes, made of {@link StoreFlags}.
 * Immutable.
 */
public final class StorePage {
    /** Before the part in the page. */
    public static final String BEGIN = "<!-- store: generated, do not edit -->\n";

    /** Behind it. */
    public static final String END = "<!-- store: end -->\n";

    private StorePage() {}

    /** The part, in Markdown. */
    public static String markdown() {
        return """
        ## Clients

        Of `put`, `get`, `exists`, `rm`, `ls`, `stat` and `gateway`. A setting is taken from a flag (`--timeout 5s`), else from its
        environment variable, else from the YAML or JSON file that `--config` or `CASSIA_CLIENT_CONFIG` names, else it has its
        default. An unknown name and a value that cannot be stop the command with exit code 2; the message names the nearest
        name or the range. Variables that begin with `MC_` or `MOONCAKE_` are Mooncake's. The client's Transfer Engine is set by
        the variables of its own table; `put --replicas` has its default from `CASSIA_REPLICAS`.

        %s
        ## Nodes

        Of `node`; the file is named by `--config` or `CASSIA_NODE_CONFIG`.

        %s
        `up` takes, beside those of a master, the flags and variables `%s`, and `--memory`. `node` and `gateway` print
        with `--print-config` what is in force and from where.

        ### Who is spoken to

        With `key-store` the bytes between clients and nodes go over TLS 1.3 with certificates on both sides, after both have
        proved that they know `cluster-token`. Whoever is plain, of another cluster, or without the token is refused, and the
        caller sees `TRANSFER_FAIL` with the engine's `ERR_REJECT_HANDSHAKE` and the reason in its text. What is asked of
        the master (keys, places, leases) is plain text: keep its port on a network of your own
        ([ADR 60](adr/0060-the-data-plane-is-secure-the-master-is-not.md)).

        The smallest set-up is one key for all members, which is its own authority; each host is named in it:

        ```
        keytool -genkeypair -alias cassia -keyalg EC -groupname secp256r1 -dname CN=cassia -validity 365 \\
            -ext san=ip:10.0.0.1,ip:10.0.0.2,dns:node-3 -storetype PKCS12 -keystore cassia.p12
        export CASSIA_KEY_STORE=cassia.p12 CASSIA_STORE_PASSWORD=... CASSIA_CLUSTER_TOKEN=...
        ```
        """
                .formatted(
                        SettingsMarkdown.effective(StoreFlags.CLIENT),
                        SettingsMarkdown.effective(StoreFlags.NODE),
                        String.join(
                                "`, `",
                                StoreFlags.CLUSTER.settings().stream()
                                        .map(setting -> setting.name())
                                        .toList()));
    }
}
