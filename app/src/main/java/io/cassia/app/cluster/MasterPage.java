package io.cassia.app.cluster;

import io.cassia.base.config.SettingsMarkdown;

/**
 * The part of {@code docs/configuration.md} about masters, made of {@link MasterFlags}. Immutable.
 */
public final class MasterPage {
    /** Before the part in the page. */
    public static final String BEGIN = "<!-- master: generated, do not edit -->\n";

    /** Behind it. */
    public static final String END = "<!-- master: end -->\n";

    private MasterPage() {}

    /** The part, in Markdown. */
    public static String markdown() {
        return """
        ## Master

        A setting is taken from a flag (`--rpc-port 50051`), else from its environment variable, else from the file that
        `--config` or `CASSIA_MASTER_CONFIG` names, else it has its default. `./cassia master --print-config` prints what is
        in force and from where, as a file that can be given back. Names are Mooncake's, or have it as an alias, with dashes
        or underscores: `mooncake_master`'s command lines and files work as they are. An unknown name, a value that cannot be
        and a value that asks for what is not there stop the start; the message names the nearest name or the range. An empty
        value counts as none.

        A file is one object in YAML, or in JSON if its name ends in `.json`:

        ```yaml
        rpc_port: 50051
        default_kv_lease_ttl: 5s        # plain numbers are milliseconds here, as in Mooncake
        eviction_high_watermark_ratio: 0.9
        ```

        %s
        ### Settings of Mooncake that do nothing here

        %s"""
                .formatted(
                        SettingsMarkdown.effective(MasterFlags.TABLE),
                        SettingsMarkdown.others(MasterFlags.TABLE));
    }
}
