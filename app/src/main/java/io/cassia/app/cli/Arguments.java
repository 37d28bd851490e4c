package io.cassia.app.cli;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Lets upstream's command lines work: {@code --rpc_port=50051} and {@code -rpc_port 50051} become
 * {@code --rpc-port}, and flags of clients that have another name here are renamed; those of the
 * master are names of its options. Immutable.
 */
final class Arguments {
    private static final Pattern FLAG =
            Pattern.compile("--?([a-z][a-z0-9]*(?:[_-][a-z0-9]+)+)(=.*)?", Pattern.DOTALL);

    /** Upstream's name, dashes for underscores, to ours (spec mooncake-store 11.3). */
    private static final Map<String, String> RENAMED =
            Map.ofEntries(
                    Map.entry("master-server-address", "master"),
                    Map.entry("master-server-addr", "master"),
                    Map.entry("metadata-server", "metadata"),
                    Map.entry("global-segment-size", "segment"),
                    Map.entry("local-hostname", "host"),
                    Map.entry("tenant-id", "tenant"),
                    Map.entry("client-http-port", "rest-port"));

    private Arguments() {}

    /** The same arguments in our spelling; what follows {@code --} is left alone. */
    static String[] normalize(String... args) {
        String[] ours = args.clone();
        for (int i = 0; i < ours.length && !ours[i].equals("--"); i++) {
            Matcher flag = FLAG.matcher(ours[i]);
            if (flag.matches() && (ours[i].startsWith("--") || flag.group(1).contains("_"))) {
                String name = flag.group(1).replace('_', '-');
                String value = flag.group(2) == null ? "" : flag.group(2);
                ours[i] = "--" + RENAMED.getOrDefault(name, name) + value;
            }
        }
        return ours;
    }
}
