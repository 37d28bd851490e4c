package io.cassia.app.cli;

import io.cassia.base.Clock;
import io.cassia.base.HumanDuration;
import io.cassia.base.HumanSize;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.RemoteBuffer;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code cassia probe}. Confined to its thread. */
@Command(
        name = "probe",
        description = {
            "Ask a Transfer Engine whether it is alive and what memory it offers; Mooncake's too."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia probe 10.0.0.1:15428",
            "  cassia probe --metadata http://10.0.0.9:8080/metadata node-7",
            "Exit codes: 0 alive, 3 nobody of that name, 4 it refuses us, 5 not reached."
        })
final class ProbeCommand implements Callable<Integer> {
    @Mixin private final Output output;
    @Mixin private final EngineOptions engines = new EngineOptions();
    private final Clock clock;

    @Parameters(
            paramLabel = "PEER",
            description =
                    "Name of its segment: host:port of its handshake port, with P2PHANDSHAKE.")
    private String peer = "";

    @Option(
            names = "--timeout",
            paramLabel = "TIME",
            defaultValue = "5s",
            converter = Converters.Limit.class,
            description = "For each step. Default: 5s.")
    private Duration timeout = Duration.ZERO;

    ProbeCommand(Console console, Clock clock) {
        this.output = new Output(console);
        this.clock = clock;
    }

    @Override
    public Integer call() {
        TransferConfig.Timeouts timeouts =
                TransferConfig.Timeouts.DEFAULT.withConnect(timeout).withStall(timeout);
        return switch (engines.start(clock, timeouts)) {
            case Outcome.Failed<TransferEngine> failed -> output.failed(failed);
            case Outcome.Ok<TransferEngine>(TransferEngine engine) -> {
                try (engine) {
                    yield probe(engine);
                }
            }
        };
    }

    private int probe(TransferEngine engine) {
        long start = clock.nanos();
        if (engine.probe(peer) instanceof Outcome.Failed<Done> failed) {
            return output.failed(failed);
        }
        Duration answered = Duration.ofNanos(clock.nanos() - start);
        Outcome<List<RemoteBuffer>> offered =
                engine.openSegment(peer).then((SegmentHandle it) -> engine.remoteBuffers(it));
        return switch (offered) {
            case Outcome.Failed<List<RemoteBuffer>> failed -> output.failed(failed);
            case Outcome.Ok<List<RemoteBuffer>>(List<RemoteBuffer> buffers) ->
                    output.ok(
                            () ->
                                    Json.object(
                                            "segment",
                                            peer,
                                            "alive",
                                            true,
                                            "answerNanos",
                                            answered.toNanos(),
                                            "buffers",
                                            buffers.stream().map(ProbeCommand::document).toList()),
                            () -> text(answered, buffers));
        };
    }

    private static Map<String, Object> document(RemoteBuffer buffer) {
        return Json.object(
                "address",
                "0x" + Long.toHexString(buffer.address()),
                "lengthBytes",
                buffer.lengthBytes());
    }

    private String text(Duration answered, List<RemoteBuffer> buffers) {
        StringBuilder text =
                new StringBuilder(
                        "segment   %s\nalive     answered in %s\nbuffers   %d"
                                .formatted(peer, HumanDuration.format(answered), buffers.size()));
        for (RemoteBuffer buffer : buffers) {
            text.append(
                    "\n          0x%x  %s"
                            .formatted(buffer.address(), HumanSize.format(buffer.lengthBytes())));
        }
        return text.toString();
    }
}
