package io.cassia.app.cli;

import io.cassia.app.Main;
import io.cassia.app.bench.BenchInitiator;
import io.cassia.app.bench.OneStream;
import io.cassia.app.bench.SuiteReport;
import io.cassia.app.bench.TargetProcess;
import io.cassia.app.bench.TransferSuite;
import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.transfer.Region;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.transport.Transport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/** {@code cassia bench transfer --suite}: all comparisons at once. Confined to its thread. */
final class BenchSuiteRun {
    private final Output output;
    private final EngineOptions engines;
    private final Clock clock;
    private final int rounds;
    private final Duration duration;

    BenchSuiteRun(
            Output output, EngineOptions engines, Clock clock, int rounds, Duration duration) {
        this.output = output;
        this.engines = engines;
        this.clock = clock;
        this.rounds = rounds;
        this.duration = duration;
    }

    int run() {
        List<String> target =
                new ArrayList<>(
                        List.of(
                                "bench",
                                "transfer",
                                "--mode",
                                "target",
                                "--until-input-ends",
                                "--transport",
                                "shm,tcp",
                                "--buffer-size",
                                Long.toString(TransferSuite.BUFFER_BYTES)));
        target.addAll(engines.arguments());
        return switch (TargetProcess.start(Main.class.getName(), target)) {
            case Outcome.Failed<TargetProcess> failed -> output.failed(failed);
            case Outcome.Ok<TargetProcess>(TargetProcess process) -> {
                try (process) {
                    yield over(process);
                }
            }
        };
    }

    private int over(TargetProcess target) {
        LongSupplier cpu = () -> BenchTransferCommand.ownCpuNanos() + target.cpuNanos();
        try (TransferEngine tcp = start(Transport.TCP);
                TransferEngine memory = start(Transport.SHM);
                BenchInitiator overTcp = open(tcp, target, cpu);
                BenchInitiator throughMemory = open(memory, target, cpu);
                Region from = memory.allocate(TransferSuite.BUFFER_BYTES).orThrow();
                Region to = memory.allocate(TransferSuite.BUFFER_BYTES).orThrow()) {
            var _ = from.memory().fill((byte) 1);
            var _ = to.memory().fill((byte) 2);
            overTcp.check().orThrow();
            throughMemory.check().orThrow();
            TransferSuite suite =
                    new TransferSuite(
                            overTcp, throughMemory, from, to, new OneStream(clock), clock);
            return switch (suite.run(rounds, duration, output.console()::note)) {
                case Outcome.Failed<SuiteReport> failed -> output.failed(failed);
                case Outcome.Ok<SuiteReport>(SuiteReport report) ->
                        output.ok(
                                () -> document(report), () -> String.join("\n", report.markdown()));
            };
        } catch (io.cassia.status.CassiaException e) {
            return output.failed(e.code(), e.detail());
        }
    }

    private TransferEngine start(Transport transport) {
        return engines.start(clock, TransferConfig.Timeouts.DEFAULT, Set.of(transport)).orThrow();
    }

    private BenchInitiator open(TransferEngine engine, TargetProcess target, LongSupplier cpu) {
        return BenchInitiator.open(engine, target.segment(), TransferSuite.BUFFER_BYTES, clock, cpu)
                .orThrow();
    }

    private static Map<String, Object> document(SuiteReport report) {
        return Json.object(
                "goals",
                report.goals().stream()
                        .map(
                                goal ->
                                        Json.object(
                                                "work", goal.work(),
                                                "measured", goal.found(),
                                                "reference", goal.reference(),
                                                "ratio", goal.ratio(),
                                                "reach", goal.reach(),
                                                "reached", goal.isReached()))
                        .toList(),
                "leastLead",
                report.leastLead().orElse(0));
    }
}
