package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code cassia master}. Confined to its thread. */
@Command(
        name = "master",
        description = {
            "Run a master: it knows where objects are and lends no memory itself.",
            "Mooncake's flag names, such as --rpc_port=50051, are understood too."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia master --rpc-host 0.0.0.0",
            "  cassia master --rpc-port 0 --http-port 0 --metadata-port off --json"
        })
final class MasterCommand implements Callable<Integer> {
    @Mixin private final Output output;
    @Mixin private final MasterOptions options = new MasterOptions();
    private final Backend backend;
    private final Serving serving;

    @Option(
            names = "--rpc-host",
            paramLabel = "HOST",
            defaultValue = "127.0.0.1",
            description = "Address that RPC and metadata listen on. Default: 127.0.0.1.")
    private String rpcHost = "";

    @Option(
            names = "--http-host",
            paramLabel = "HOST",
            defaultValue = "127.0.0.1",
            description = "Address that the admin server listens on. Default: 127.0.0.1.")
    private String httpHost = "";

    MasterCommand(Console console, Backend backend, StopSignal stop) {
        this.output = new Output(console);
        this.backend = backend;
        this.serving = new Serving(output, stop);
    }

    @Override
    public Integer call() {
        return serving.run(
                options.settings(rpcHost, httpHost).then(backend::startMaster),
                running ->
                        """
                        %s
                        add memory:  %s node --master %s --metadata %s --segment 4GiB"""
                                .formatted(
                                        Serving.addresses(running),
                                        output.console().program(),
                                        running.master(),
                                        running.metadata()));
    }
}
