package io.cassia.app.bench;

import io.cassia.datadist.bench.Counterpart;
import io.cassia.datadist.bench.ServingPeer;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A counterpart in a process of its own, which ends with this one. Confined to its thread. */
public final class PeerProcess implements Counterpart {
    private final TargetProcess process;

    private PeerProcess(TargetProcess process) {
        this.process = process;
    }

    /** Starts it; ERR_CONTEXT when it does not start, or the code that it could not serve for. */
    public static Outcome<PeerProcess> start(String mainClass, ServingPeer.Setup setup) {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "datadist",
                                "peer",
                                "--pool",
                                Long.toString(setup.poolBytes()),
                                "--engine",
                                Long.toString(setup.engineBytes()),
                                "--transport",
                                setup.transports().stream()
                                        .map(Transport::label)
                                        .collect(Collectors.joining("+"))));
        if (!setup.roleGating()) {
            arguments.add("--any-role");
        }
        return TargetProcess.start(mainClass, arguments)
                .then(
                        process -> {
                            Outcome<String> ready = Counterpart.parse(process.segment());
                            if (!ready.isOk()) {
                                process.close();
                            }
                            return ready.map(ok -> new PeerProcess(process));
                        });
    }

    @Override
    public Outcome<String> ask(String line) {
        return process.ask(line)
                .map(Counterpart::parse)
                .orElseGet(
                        () ->
                                Outcome.failed(
                                        LlmStatus.LLM_FAILED,
                                        "the prompt's process has ended before it answered '%s'"
                                                .formatted(
                                                        line.substring(
                                                                0, Math.min(40, line.length())))));
    }

    @Override
    public void close() {
        process.close();
    }
}
