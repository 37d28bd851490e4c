package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.ObjectStore;
import io.cassia.base.ByteString;
import io.cassia.base.HumanSize;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code cassia get}. Confined to its thread. */
@Command(
        name = "get",
        description = "Read an object to standard output or into a file.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia get model-a/block-7 > block.bin",
            "  cassia get model-a/block-7 -o block.bin",
            "A file appears only when it is complete; nothing is printed for an object that failed."
        })
final class GetCommand implements Callable<Integer> {
    private static final int CHUNK = 1 << 16;

    @Mixin private final Output output;
    @Mixin private final Connection connection;

    @Parameters(index = "0", paramLabel = "KEY", description = "Name of the object.")
    private String key = "";

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "File to write. Default: standard output.")
    private @Nullable Path file;

    @Option(
            names = "--max-bytes",
            paramLabel = "SIZE",
            defaultValue = "16GiB",
            converter = Converters.Size.class,
            description = "Refuse a larger object. Default: 16GiB.")
    private long maxBytes;

    GetCommand(Output output, Connection connection) {
        this.output = output;
        this.connection = connection;
    }

    static GetCommand of(Console console, Backend backend) {
        return new GetCommand(new Output(console), new Connection(backend));
    }

    @Override
    public Integer call() {
        if (output.json() && file == null) {
            return output.failed(
                    StoreCode.INVALID_PARAMS, "get --json needs --output: stdout is the object");
        }
        return connection.use(output, this::get);
    }

    private int get(ObjectStore store) {
        return switch (store.size(ByteString.of(key))) {
            case Outcome.Ok<Long>(Long bytes) when bytes > maxBytes ->
                    output.failed(
                            StoreCode.INVALID_PARAMS,
                            "get %s: %s is more than --max-bytes %s"
                                    .formatted(
                                            key,
                                            HumanSize.format(bytes),
                                            HumanSize.format(maxBytes)));
            case Outcome.Ok<Long>(Long bytes) when file == null -> print(store, bytes);
            case Outcome.Ok<Long>(Long bytes) -> save(store, bytes);
            case Outcome.Failed<Long> failure -> output.failed(failure, "get", key);
        };
    }

    private int print(ObjectStore store, long bytes) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(bytes, 64);
            return switch (store.get(ByteString.of(key), memory)) {
                case Outcome.Ok<Long>(Long length) ->
                        copy(memory.asSlice(0, length), output.console().out());
                case Outcome.Failed<Long> failure -> output.failed(failure, "get", key);
            };
        }
    }

    private int copy(MemorySegment memory, PrintStream out) {
        byte[] chunk = new byte[CHUNK];
        for (long at = 0; at < memory.byteSize(); at += CHUNK) {
            int length = (int) Math.min(CHUNK, memory.byteSize() - at);
            MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, at, chunk, 0, length);
            out.write(chunk, 0, length);
            if (out.checkError()) {
                return output.failed(
                        StoreCode.FILE_WRITE_FAIL,
                        "get " + key + ": standard output closed after " + at + " bytes");
            }
        }
        return ExitCodes.OK;
    }

    private int save(ObjectStore store, long bytes) {
        Path target = java.util.Objects.requireNonNull(file);
        return switch (LocalFiles.write(
                target, bytes, memory -> store.get(ByteString.of(key), memory))) {
            case Outcome.Ok<Long>(Long length) ->
                    output.ok(
                            () ->
                                    Json.object(
                                            "key", key, "bytes", length, "file", target.toString()),
                            () -> "wrote " + target + ", " + HumanSize.format(length));
            case Outcome.Failed<Long> failure -> output.failed(failure, "get", key);
        };
    }
}
