package io.cassia.app;

import io.cassia.app.cli.Cli;

/** The process. Immutable. */
public final class Main {
    private Main() {}

    /** Runs the command line and ends the process with its exit code. */
    public static void main(String[] args) {
        String level = System.getenv("CASSIA_LOG_LEVEL");
        LogSetup.choose(level == null ? "" : level, args);
        System.exit(Cli.run(args));
    }
}
