package io.cassia.app.cli;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.transfer.RouteReport;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.topology.DeviceFilter;
import io.cassia.transfer.topology.HostProbe;
import io.cassia.transfer.topology.HostTopology;
import io.cassia.transfer.topology.LinkReport;
import io.cassia.transfer.topology.PriorityMatrix;
import io.cassia.transfer.topology.TopologySource;
import io.cassia.transfer.transport.Transport;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code cassia links}. Confined to its thread. */
@Command(
        name = "links",
        description = {
            "Show what this machine can be reached by: network devices, NUMA nodes, accelerators,",
            "and which device serves which memory; of peers that are named, how bytes would get",
            "there, and why not by something faster."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia links",
            "  cassia links --json",
            "  cassia links 10.0.0.1:15428",
            "The members local_nics and topology of the document are those of Mooncake's show_link."
        })
final class LinksCommand implements Callable<Integer> {
    @Mixin private final Output output;
    @Mixin private final EngineOptions engines = new EngineOptions();
    private final Clock clock;

    @Parameters(
            paramLabel = "PEER",
            arity = "0..*",
            description = "Names of peers' segments: host:port, with P2PHANDSHAKE.")
    private List<String> peers = List.of();

    @Option(
            names = "--topology",
            paramLabel = "FILE",
            defaultValue = "${env:MC_CUSTOM_TOPO_JSON}",
            description =
                    "Priority matrix to show instead of the machine's own. Default:"
                            + " $MC_CUSTOM_TOPO_JSON.")
    private @Nullable Path topology;

    @Option(
            names = "--devices",
            paramLabel = "NAME,...",
            defaultValue = "${env:MC_TE_FILTERS:-}",
            description = "RDMA devices that may be used. Default: $MC_TE_FILTERS, else all.")
    private String devices = "";

    LinksCommand(Console console, Clock clock) {
        this.output = new Output(console);
        this.clock = clock;
    }

    @Override
    public Integer call() {
        HostTopology host = HostProbe.system().discover();
        return switch (TopologySource.of(Optional.ofNullable(topology))
                .resolve(host, DeviceFilter.parse(devices))) {
            case Outcome.Failed<PriorityMatrix> failed -> output.failed(failed);
            case Outcome.Ok<PriorityMatrix>(PriorityMatrix matrix) ->
                    peers.isEmpty()
                            ? show(LinkReport.of(host, matrix), List.of())
                            : withPeers(host, matrix);
        };
    }

    private int withPeers(HostTopology host, PriorityMatrix matrix) {
        return switch (engines.start(
                clock, TransferConfig.Timeouts.DEFAULT, EnumSet.allOf(Transport.class))) {
            case Outcome.Failed<TransferEngine> failed -> output.failed(failed);
            case Outcome.Ok<TransferEngine>(TransferEngine engine) -> {
                try (engine) {
                    for (String peer : peers) {
                        if (engine.openSegment(peer)
                                instanceof Outcome.Failed<SegmentHandle> failed) {
                            yield output.failed(failed);
                        }
                    }
                    yield show(
                            new LinkReport(host, matrix, Set.of(), engine.links().peers()),
                            engine.routes());
                }
            }
        };
    }

    private int show(LinkReport report, List<RouteReport> routes) {
        StringBuilder text = new StringBuilder(output.json() ? report.toJson() : report.toText());
        if (!output.json()) {
            routes.forEach(route -> describe(route, text));
        }
        output.console().line(text.toString().stripTrailing());
        return ExitCodes.OK;
    }

    private static void describe(RouteReport route, StringBuilder text) {
        for (RouteReport.Way way : route.ways()) {
            text.append(
                    "    %s %s: %s\n"
                            .formatted(
                                    route.segment(),
                                    way.transport().label(),
                                    way.usable() ? "usable" : way.reason()));
        }
    }
}
