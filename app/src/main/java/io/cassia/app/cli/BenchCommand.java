package io.cassia.app.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code cassia bench}: the family of measurements. Confined to its thread. */
@Command(
        name = "bench",
        description = "Measure this machine.",
        synopsisSubcommandLabel = "WHAT",
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia bench transfer",
            "  cassia bench master",
            "  cassia bench allocator",
            "  cassia bench store",
            "  cassia bench datadist",
            "  cassia bench store --help"
        })
final class BenchCommand implements Callable<Integer> {
    @Spec private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getOut());
        return ExitCodes.USAGE;
    }
}
