package io.cassia.app;

import io.cassia.app.cli.Cli;

/** The process. Immutable. */
public final class Main {
    private static final String LOG_FORMAT = "java.util.logging.SimpleFormatter.format";

    private Main() {}

    /** Runs the command line and ends the process with its exit code. */
    public static void main(String[] args) {
        if (System.getProperty(LOG_FORMAT) == null) {
            System.setProperty(LOG_FORMAT, "%1$tFT%1$tT.%1$tL %4$s %3$s %5$s%6$s%n");
        }
        System.exit(Cli.run(args));
    }
}
