package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.MasterSettings;
import io.cassia.app.cluster.Running;
import io.cassia.app.cluster.StoreFlags;
import io.cassia.app.cluster.StoreSettings;
import io.cassia.base.HumanSize;
import io.cassia.base.config.Configuration;
import io.cassia.status.Outcome;
import io.cassia.store.NodeConfig;
import io.cassia.store.StoreClientConfig;
import io.cassia.transfer.Security;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code cassia up}. Confined to its thread. */
@Command(
        name = "up",
        description = {
            "Run a whole cluster in one process: master, metadata server, one node, REST service."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia up --memory 2GiB",
            "  cassia up --host 10.0.0.1 --memory 64GiB",
            "  cassia up --rest-port off",
            "  cassia up --rpc-port 0 --http-port 0 --metadata-port 0 --rest-port 0 --json"
        })
final class UpCommand implements Callable<Integer>, DeclaresOptions {
    @Mixin private final Output output;
    @Mixin private final MasterOptions options;
    @Mixin private final RestOptions rest = new RestOptions();
    @Spec private CommandSpec spec = CommandSpec.create();
    private final SettingOptions store;
    private final Backend backend;
    private final Serving serving;

    @Option(
            names = "--host",
            paramLabel = "HOST",
            defaultValue = "127.0.0.1",
            description = "Address to listen on and to be reached at. Default: 127.0.0.1.")
    private String host = "";

    @Option(
            names = {"--memory", "--segment"},
            paramLabel = "SIZE",
            defaultValue = "1GiB",
            converter = Converters.Size.class,
            description = "Memory of the node. Default: 1GiB.")
    private long memoryBytes;

    UpCommand(Console console, Backend backend, StopSignal stop, Map<String, String> environment) {
        this.options = new MasterOptions(environment);
        this.store = new SettingOptions(StoreFlags.CLUSTER, environment);
        this.output = new Output(console);
        this.backend = backend;
        this.serving = new Serving(output, stop);
    }

    @Override
    public void declare(CommandSpec own) {
        store.declare(own);
    }

    @Override
    public Integer call() {
        Map<String, String> hosts = Map.of("rpc-host", host, "http-host", host);
        Configuration configuration = SettingOptions.require(options.configuration(hosts), spec);
        MasterSettings settings = options.settings(configuration, spec, output.console());
        if (options.printsOnly()) {
            return output.ok(
                    () -> ConfigurationText.document(configuration),
                    () -> ConfigurationText.yaml(configuration));
        }
        return serving.run(start(settings), this::text);
    }

    private Outcome<Running> start(MasterSettings settings) {
        return store.configuration()
                .then(
                        own ->
                                StoreSettings.security(own)
                                        .then(security -> start(settings, own, security)));
    }

    private Outcome<Running> start(MasterSettings settings, Configuration own, Security security) {
        NodeConfig node =
                new NodeConfig("", "", host, memoryBytes)
                        .withLongestSegment(own.require(StoreFlags.LONGEST_SEGMENT))
                        .withSecurity(security);
        return backend.startCluster(settings, List.of(node))
                .then(cluster -> withRest(cluster, StoreSettings.memory(own), security));
    }

    private Outcome<Running> withRest(
            Running cluster, StoreClientConfig.Memory memory, Security security) {
        if (rest.isOff()) {
            return Outcome.ok(cluster);
        }
        StoreClientConfig client =
                new StoreClientConfig(
                                cluster.master(),
                                cluster.metadata(),
                                host,
                                StoreClientConfig.of(cluster.master()).tenant(),
                                RestOptions.DEADLINE)
                        .withMemory(memory)
                        .withSecurity(security);
        Outcome<Running> gateway =
                rest.config(host, backend.variables())
                        .then(config -> backend.startGateway(client, config));
        if (!gateway.isOk()) {
            cluster.close();
        }
        return gateway.map(cluster::with);
    }

    private String text(Running running) {
        String program = output.console().program();
        String where =
                running.master().equals("127.0.0.1:50051")
                        ? ""
                        : " --master " + running.master() + " --metadata " + running.metadata();
        return """
        %s
        memory    %s

        from a shell:
          %s put%s hello README.md
          %s get%s hello
          %s stat%s

        %s
        from a Mooncake client in Python:
          from mooncake.store import MooncakeDistributedStore
          store = MooncakeDistributedStore()
          store.setup({"local_hostname": "%s", "protocol": "tcp",
                       "metadata_server": "%s",
                       "master_server_addr": "%s",
                       "global_segment_size": "0", "local_buffer_size": "64MB"})
          store.put("hello", b"world"); store.get("hello")
        """
                .formatted(
                        Serving.addresses(running),
                        HumanSize.format(memoryBytes),
                        program,
                        where,
                        program,
                        where,
                        program,
                        where,
                        RestOptions.examples(running),
                        host,
                        running.metadata(),
                        running.master());
    }
}
