package io.cassia.app.cli;

import io.cassia.base.Clock;
import io.cassia.datadist.bench.Counterpart;
import io.cassia.datadist.bench.ServingPeer;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code cassia datadist peer}: the prompt that the demonstration and the benchmark start. It does
 * what its input says until that ends. Confined to its thread.
 */
@Command(
        name = "peer",
        mixinStandardHelpOptions = true,
        hidden = true,
        description = "The other end of a demonstration or measurement; ends with its input.")
final class DataDistPeerCommand implements Callable<Integer> {
    private final Console console;
    private final Clock clock;

    @Option(names = "--pool", required = true, description = "Memory for caches.")
    private long poolBytes;

    @Option(names = "--engine", description = "Memory of a bare engine beside it.")
    private long engineBytes;

    @Option(names = "--any-role", description = "Roles decide nothing.")
    private boolean anyRole;

    @Option(
            names = "--transport",
            defaultValue = "any",
            converter = TransportChoice.Name.class,
            description = "What may carry bytes.")
    private TransportChoice transport = new TransportChoice.Name().convert("any");

    DataDistPeerCommand(Console console, Clock clock) {
        this.console = console;
        this.clock = clock;
    }

    @Override
    public Integer call() throws IOException {
        ServingPeer.Setup setup =
                new ServingPeer.Setup(poolBytes, engineBytes, !anyRole, transport.transports());
        return switch (ServingPeer.open(setup, clock, new SimpleMeterRegistry())) {
            case Outcome.Failed<ServingPeer> failed -> {
                say(Outcome.failed(failed.code(), failed.detail()));
                yield ExitCodes.of(failed.code());
            }
            case Outcome.Ok<ServingPeer>(ServingPeer peer) -> {
                try (peer) {
                    yield serve(peer);
                }
            }
        };
    }

    private int serve(ServingPeer peer) throws IOException {
        say(Outcome.ok("ready"));
        BufferedReader in =
                new BufferedReader(new InputStreamReader(console.in(), StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            say(answer(peer, line));
        }
        return ExitCodes.OK;
    }

    private static Outcome<String> answer(ServingPeer peer, String line) {
        try {
            return peer.ask(line);
        } catch (RuntimeException e) {
            // Whoever asked waits for a line.
            return Outcome.failed(LlmStatus.LLM_FAILED, "unexpected: " + e);
        }
    }

    private void say(Outcome<String> outcome) {
        console.line(Counterpart.line(outcome));
        console.flush();
    }
}
