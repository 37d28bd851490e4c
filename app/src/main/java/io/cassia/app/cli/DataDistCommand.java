package io.cassia.app.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code cassia datadist}: what concerns LLM-DataDist. Confined to its thread. */
@Command(
        name = "datadist",
        description = "LLM-DataDist: KV caches from prefill to decode.",
        synopsisSubcommandLabel = "WHAT",
        footerHeading = "%nExamples:%n",
        footer = {"  cassia datadist demo", "  cassia datadist demo --help"})
final class DataDistCommand implements Callable<Integer> {
    @Spec private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getOut());
        return ExitCodes.USAGE;
    }
}
