package io.cassia.app.cli;

import io.cassia.status.Outcome;
import io.cassia.transfer.topology.DeviceFilter;
import io.cassia.transfer.topology.HostProbe;
import io.cassia.transfer.topology.HostTopology;
import io.cassia.transfer.topology.LinkReport;
import io.cassia.transfer.topology.PriorityMatrix;
import io.cassia.transfer.topology.TopologySource;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code cassia links}. Confined to its thread. */
@Command(
        name = "links",
        description = {
            "Show what this machine can be reached by: network devices, NUMA nodes, accelerators,",
            "and which device serves which memory."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia links",
            "  cassia links --json",
            "The members local_nics and topology of the document are those of Mooncake's show_link."
        })
final class LinksCommand implements Callable<Integer> {
    @Mixin private final Output output;

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

    LinksCommand(Console console) {
        this.output = new Output(console);
    }

    @Override
    public Integer call() {
        HostTopology host = HostProbe.system().discover();
        return switch (TopologySource.of(Optional.ofNullable(topology))
                .resolve(host, DeviceFilter.parse(devices))) {
            case Outcome.Failed<PriorityMatrix> failed -> output.failed(failed);
            case Outcome.Ok<PriorityMatrix>(PriorityMatrix matrix) -> {
                LinkReport report = LinkReport.of(host, matrix);
                output.console()
                        .line((output.json() ? report.toJson() : report.toText()).stripTrailing());
                yield ExitCodes.OK;
            }
        };
    }
}
