package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.base.Clock;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** One run of the command line in this process; a server stops as soon as it runs. Immutable. */
final class CliRun {
    private final int exit;
    private final byte[] outBytes;
    private final String err;

    private CliRun(int exit, byte[] outBytes, String err) {
        this.exit = exit;
        this.outBytes = outBytes;
        this.err = err;
    }

    static CliRun of(Backend backend, byte[] stdin, String... args) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Console console =
                new Console(
                        new ByteArrayInputStream(stdin),
                        new PrintStream(out, false, StandardCharsets.UTF_8),
                        new PrintStream(err, false, StandardCharsets.UTF_8),
                        false,
                        "./cassia");
        StopSignal atOnce =
                (announce, close, longest) -> {
                    announce.run();
                    close.run();
                };
        int exit = new Cli(console, backend, Clock.system(), atOnce).execute(args);
        return new CliRun(exit, out.toByteArray(), err.toString(StandardCharsets.UTF_8));
    }

    static CliRun of(Backend backend, String... args) {
        return of(backend, new byte[0], args);
    }

    int exit() {
        return exit;
    }

    String err() {
        return err;
    }

    byte[] outBytes() {
        return outBytes;
    }

    String out() {
        return new String(outBytes, StandardCharsets.UTF_8);
    }

    /** The output as the one JSON document that it must be. */
    JsonNode json() {
        return JsonMapper.builder().build().readTree(out());
    }
}
