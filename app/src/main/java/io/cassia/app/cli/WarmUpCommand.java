package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.MasterSettings;
import io.cassia.app.cluster.Running;
import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import java.io.ByteArrayInputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/**
 * Runs a little of everything, printing nothing: the launcher records which classes and methods
 * that takes and keeps them ready for later starts. Confined to its thread.
 */
@Command(name = "warm-up", hidden = true, description = "Exercise the program for its start cache.")
final class WarmUpCommand implements Callable<Integer> {
    private static final long SEGMENT_BYTES = 64L << 20;
    private static final String TRACE =
            """
            {"timestamp": 0, "hash_ids": [1, 2, 3]}
            {"timestamp": 1, "hash_ids": [1, 2, 4]}
            """;

    private final Backend backend;
    private final Clock clock;
    private final Console silent;

    WarmUpCommand(Console console, Backend backend, Clock clock) {
        this.backend = backend;
        this.clock = clock;
        PrintStream nowhere =
                new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        this.silent =
                new Console(
                        new ByteArrayInputStream(TRACE.getBytes(StandardCharsets.UTF_8)),
                        nowhere,
                        nowhere,
                        false,
                        console.program());
    }

    @Override
    public Integer call() {
        runEach("--help", "put --help", "explain -707", "explain --json", "statt");
        MasterSettings settings = MasterSettings.embedded();
        if (backend.startCluster(settings, "127.0.0.1", List.of(SEGMENT_BYTES))
                instanceof Outcome.Ok<Running>(Running cluster)) {
            try (cluster) {
                String at = " --master " + cluster.master() + " --metadata " + cluster.metadata();
                runEach(
                        "replay - --block-bytes 4KiB" + at,
                        "put k -" + at,
                        "get k" + at,
                        "exists k --json" + at,
                        "ls" + at,
                        "stat" + at,
                        "stat --json" + at,
                        "rm k" + at);
            }
            runEach("demo --requests 100", "up" + freePorts());
        }
        return ExitCodes.OK;
    }

    private static String freePorts() {
        return " --rpc-port 0 --http-port 0 --metadata-port 0 --rest-port 0 --memory 16MiB";
    }

    /** A step that fails was exercised all the same: exit codes do not matter here. */
    private void runEach(String... lines) {
        for (String line : lines) {
            var _ =
                    new Cli(silent, backend, clock, WarmUpCommand::stopAtOnce)
                            .execute(line.split(" ", -1));
        }
    }

    private static void stopAtOnce(Runnable announce, Runnable close, Duration longest) {
        announce.run();
        close.run();
    }
}
