package io.cassia.app;

import io.cassia.app.cli.Cli;
import java.util.Optional;

/** The process. Immutable. */
public final class Main {
    private Main() {}

    /** Runs the command line and ends the process with its exit code. */
    public static void main(String[] args) {
        String level = System.getenv("CASSIA_LOG_LEVEL");
        Optional<String> wrong = LogSetup.choose(level == null ? "" : level, args);
        System.exit(wrong.isPresent() ? Cli.refuse(wrong.get(), args) : Cli.run(args));
    }
}
