package io.cassia.app.cli;

import io.cassia.app.cluster.Running;
import io.cassia.base.HumanDuration;
import io.cassia.status.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Function;

/** What the server commands share: announce, run until stopped, close. Confined to its thread. */
final class Serving {
    private final Output output;
    private final StopSignal stop;

    Serving(Output output, StopSignal stop) {
        this.output = output;
        this.stop = stop;
    }

    /**
     * @param text what people shall read when it is ready
     */
    int run(Outcome<Running> started, Function<Running, String> text) {
        return run(started, text, StopSignal.SHORT);
    }

    /**
     * @param longest closing may take
     */
    int run(Outcome<Running> started, Function<Running, String> text, Duration longest) {
        return switch (started) {
            case Outcome.Ok<Running>(Running running) -> {
                stop.serve(() -> announce(running, text), running::close, longest);
                yield ExitCodes.OK;
            }
            case Outcome.Failed<Running> failure -> output.failed(failure);
        };
    }

    private void announce(Running running, Function<Running, String> text) {
        int _ =
                output.ok(
                        () ->
                                Json.object(
                                        "ready", true,
                                        "master", running.master(),
                                        "metadata", running.metadata(),
                                        "addresses", running.addresses(),
                                        "nodes", running.nodes(),
                                        "startMillis", sinceStart().toMillis()),
                        () ->
                                text.apply(running)
                                        + "\nready in "
                                        + HumanDuration.format(sinceStart())
                                        + "; Ctrl-C stops it");
        output.console().flush();
    }

    /** One line per address. */
    static String addresses(Running running) {
        StringBuilder text = new StringBuilder();
        running.addresses()
                .forEach((name, address) -> text.append("%-10s%s%n".formatted(name, address)));
        running.nodes().forEach(node -> text.append("%-10s%s%n".formatted("node", node)));
        return text.toString().stripTrailing();
    }

    private static Duration sinceStart() {
        Instant now = Instant.now();
        Instant start = ProcessHandle.current().info().startInstant().orElse(now);
        Duration since = Duration.between(start, now);
        return since.isNegative() ? Duration.ZERO : since;
    }
}
