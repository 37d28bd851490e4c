package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.ObjectStore;
import io.cassia.base.ByteString;
import io.cassia.base.HumanSize;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.store.PutOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code cassia put}. Confined to its thread. */
@Command(
        name = "put",
        description = "Store a file, or standard input, under a key.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia put model-a/block-7 block.bin",
            "  tar c dir | cassia put backup -",
            "  cassia put --replicas 2 --hard-pin system-prompt prompt.kv"
        })
final class PutCommand implements Callable<Integer> {
    @Mixin private final Output output;
    @Mixin private final Connection connection;

    @Parameters(index = "0", paramLabel = "KEY", description = "Name of the object.")
    private String key = "";

    @Parameters(index = "1", paramLabel = "FILE", description = "What to store; - reads stdin.")
    private String file = "";

    @Option(
            names = "--replicas",
            paramLabel = "N",
            defaultValue = "${env:CASSIA_REPLICAS:-1}",
            converter = Converters.Count.class,
            description = "Copies on different segments. Default: $CASSIA_REPLICAS, else 1.")
    private int replicas;

    @Option(names = "--hard-pin", description = "Never evict the object.")
    private boolean hardPin;

    @Option(
            names = "--max-bytes",
            paramLabel = "SIZE",
            defaultValue = "1GiB",
            converter = Converters.Size.class,
            description = "Limit for standard input. Default: 1GiB.")
    private long maxBytes;

    PutCommand(Output output, Connection connection) {
        this.output = output;
        this.connection = connection;
    }

    static PutCommand of(Console console, Backend backend) {
        return new PutCommand(new Output(console), new Connection(backend));
    }

    @Override
    public Integer call() {
        try (Arena arena = Arena.ofShared()) {
            Outcome<MemorySegment> value =
                    file.equals("-")
                            ? LocalFiles.readAll(output.console().in(), maxBytes, arena)
                            : LocalFiles.map(Path.of(file), arena);
            return switch (value) {
                case Outcome.Ok<MemorySegment>(MemorySegment bytes) ->
                        connection.use(output, store -> put(store, bytes));
                case Outcome.Failed<MemorySegment> failure -> output.failed(failure, "put", key);
            };
        }
    }

    private int put(ObjectStore store, MemorySegment value) {
        return switch (store.put(ByteString.of(key), value, options())) {
            case Outcome.Ok<Done> ok ->
                    output.ok(
                            () -> Json.object("key", key, "bytes", value.byteSize()),
                            () -> "stored " + key + ", " + HumanSize.format(value.byteSize()));
            case Outcome.Failed<Done> failure -> output.failed(failure, "put", key);
        };
    }

    private PutOptions options() {
        ReplicateConfig plain = ReplicateConfig.DEFAULT;
        return new PutOptions(
                new ReplicateConfig(
                        replicas,
                        plain.nofReplicaNum(),
                        plain.dfsReplicaNum(),
                        plain.softPinAction(),
                        plain.softPinTtlMs(),
                        hardPin,
                        plain.preferredSegments(),
                        plain.preferredSegment(),
                        plain.preferredNofSegments(),
                        plain.preferAllocInSameNode(),
                        plain.dataType(),
                        plain.hostId(),
                        plain.groupIds()));
    }
}
