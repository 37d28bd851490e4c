package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.base.HumanSize;
import io.cassia.store.NodeConfig;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code cassia node}. Confined to its thread. */
@Command(
        name = "node",
        description = "Run a storage node: memory lent to the pool of a master.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia node --segment 4GiB",
            "  cassia node --master 10.0.0.1:50051 --host 10.0.0.2 --segment 64GiB"
        })
final class NodeCommand implements Callable<Integer> {
    @Mixin private final Output output;
    private final Backend backend;
    private final Serving serving;

    @Option(
            names = "--master",
            paramLabel = "HOST:PORT",
            defaultValue = "${env:CASSIA_MASTER:-127.0.0.1:50051}",
            description =
                    "RPC address of the master. Default: $CASSIA_MASTER, else 127.0.0.1:50051.")
    private String master = "";

    @Option(
            names = "--metadata",
            paramLabel = "URI",
            defaultValue = "${env:CASSIA_METADATA:-}",
            description = {
                "Transfer Engine metadata: http://host:port/metadata or P2PHANDSHAKE.",
                "Default: $CASSIA_METADATA, else port 8080 on the master's host."
            })
    private String metadata = "";

    @Option(
            names = "--host",
            paramLabel = "HOST",
            defaultValue = "127.0.0.1",
            description = "Name under which peers reach this node. Default: 127.0.0.1.")
    private String host = "";

    @Option(
            names = {"--segment", "--memory"},
            paramLabel = "SIZE",
            defaultValue = "1GiB",
            converter = Converters.Size.class,
            description = "Memory to lend. Default: 1GiB.")
    private long segmentBytes;

    @Option(
            names = "--longest-segment",
            paramLabel = "SIZE",
            defaultValue = "64GiB",
            converter = Converters.Size.class,
            description = "More memory is mounted as several segments. Default: 64GiB.")
    private long longestSegmentBytes;

    @Option(
            names = "--drain",
            paramLabel = "DURATION",
            defaultValue = "0",
            converter = Converters.Seconds.class,
            description = {
                "When stopped (SIGTERM, Ctrl-C), have the stored objects moved to other nodes and",
                "leave after that time at the latest. Default: 0, leave at once."
            })
    private Duration drainTime = Duration.ZERO;

    NodeCommand(Console console, Backend backend, StopSignal stop) {
        this.output = new Output(console);
        this.backend = backend;
        this.serving = new Serving(output, stop);
    }

    @Override
    public Integer call() {
        NodeConfig config =
                new NodeConfig(master, Connection.metadataOf(master, metadata), host, segmentBytes)
                        .withLongestSegment(longestSegmentBytes)
                        .withDrainTime(drainTime);
        return serving.run(
                backend.startNode(config),
                running ->
                        "%s%nlends     %s to the master at %s"
                                .formatted(
                                        Serving.addresses(running),
                                        HumanSize.format(segmentBytes),
                                        master));
    }
}
