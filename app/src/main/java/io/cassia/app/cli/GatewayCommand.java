package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code cassia gateway}. Confined to its thread. */
@Command(
        name = "gateway",
        description = {
            "Run the REST service of a cluster: objects over HTTP, on Mooncake's paths and more.",
            "Without a token everybody may ask: let it listen where only its users reach it."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia gateway",
            "  cassia gateway --master 10.0.0.1:50051 --host 10.0.0.2 --rest-port 8081",
            "  curl -T block.bin http://127.0.0.1:9300/api/put/model-a/block-7",
            "  curl http://127.0.0.1:9300/api/get/model-a/block-7"
        })
final class GatewayCommand implements Callable<Integer> {
    @Mixin private final Output output;
    @Mixin private final Connection connection;
    @Mixin private final RestOptions rest = new RestOptions();
    private final Backend backend;
    private final Serving serving;

    @Option(
            names = "--host",
            paramLabel = "HOST",
            defaultValue = "127.0.0.1",
            description = "Address to listen on. Default: 127.0.0.1.")
    private String host = "";

    @Option(
            names = "--print-config",
            description =
                    "Print what is in force of its client and where it comes from, and start"
                            + " nothing.")
    private boolean print;

    GatewayCommand(Console console, Backend backend, StopSignal stop) {
        this.output = new Output(console);
        this.connection = new Connection(backend);
        this.backend = backend;
        this.serving = new Serving(output, stop);
    }

    @Override
    public Integer call() {
        if (print) {
            return ConfigurationText.print(output, connection.configuration());
        }
        return serving.run(
                rest.config(host, backend.variables())
                        .then(
                                config ->
                                        connection
                                                .config()
                                                .then(
                                                        client ->
                                                                backend.startGateway(
                                                                        client, config))),
                running ->
                        (Serving.addresses(running) + "\n\n" + RestOptions.examples(running))
                                .stripTrailing());
    }
}
