package io.cassia.app;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.logging.LogManager;

/**
 * Configures the JDK's logging: one line per event on standard error. Immutable. The JDK makes it
 * when the first line is logged, so that a command that logs nothing pays nothing.
 */
public final class LogSetup {
    private static final String LEVEL = "cassia.log.level";
    private static final Set<String> SERVERS = Set.of("up", "master", "node", "gateway");
    private static final Map<String, String> LEVELS =
            Map.of("error", "SEVERE", "warn", "WARNING", "info", "INFO", "debug", "FINE");

    /** Called by the JDK. */
    public LogSetup() throws IOException {
        String configuration =
                """
                handlers = java.util.logging.ConsoleHandler
                .level = %1$s
                java.util.logging.ConsoleHandler.level = %1$s
                java.util.logging.SimpleFormatter.format = %2$s
                """
                        .formatted(
                                System.getProperty(LEVEL, "WARNING"),
                                "%1$tFT%1$tT.%1$tL %4$s %3$s %5$s%6$s%n");
        LogManager.getLogManager()
                .readConfiguration(
                        new ByteArrayInputStream(configuration.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Chooses the level: what is asked for, else INFO for servers and WARNING for commands, whose
     * output people read.
     *
     * @param asked one of error, warn, info, debug; empty: not asked
     * @return what is wrong with what is asked for, if anything is
     */
    static Optional<String> choose(String asked, String... args) {
        boolean serves = args.length > 0 && SERVERS.contains(args[0]);
        System.setProperty(LEVEL, LEVELS.getOrDefault(asked, serves ? "INFO" : "WARNING"));
        System.setProperty("java.util.logging.config.class", LogSetup.class.getName());
        System.setProperty("java.util.logging.manager", ToTheEnd.class.getName());
        return asked.isEmpty() || LEVELS.containsKey(asked)
                ? Optional.empty()
                : Optional.of(
                        "CASSIA_LOG_LEVEL=\"" + asked + "\": it is error, warn, info or debug");
    }

    /**
     * The JDK's own would fall silent as soon as the process is asked to stop, and what a node says
     * while it hands its objects over would be lost. Thread-safe.
     */
    public static final class ToTheEnd extends LogManager {
        private volatile boolean configured;

        /** Called by the JDK. */
        public ToTheEnd() {}

        @Override
        public void readConfiguration(InputStream from) throws IOException {
            super.readConfiguration(from);
            configured = true;
        }

        /** Called before the configuration is read, and by the JDK when the process ends. */
        @Override
        public void reset() {
            if (!configured) {
                super.reset();
            }
        }
    }
}
