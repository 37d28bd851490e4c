package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.base.Clock;
import io.cassia.status.CassiaException;
import io.cassia.status.StoreCode;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command line as a whole. Confined to its thread. */
public final class Cli {
    private static final String DEBUG = "CASSIA_DEBUG";

    private final Console console;
    private final Backend backend;
    private final Clock clock;
    private final StopSignal stop;

    Cli(Console console, Backend backend, Clock clock, StopSignal stop) {
        this.console = console;
        this.backend = backend;
        this.clock = clock;
        this.stop = stop;
    }

    /** Runs one command of this process and answers its exit code. */
    public static int run(String... args) {
        return ofProcess().execute(args);
    }

    /** Refuses a command for a wrong setting of the environment; the exit code. */
    public static int refuse(String detail, String... args) {
        return ofProcess().refused(detail, args);
    }

    private static Cli ofProcess() {
        Clock clock = Clock.system();
        return new Cli(
                Console.ofProcess(),
                Backend.real(clock, System.getenv()),
                clock,
                StopSignal.ofProcess());
    }

    int execute(String... args) {
        int exit = commandLine(args).execute(Arguments.normalize(args));
        return console.flush() || exit != ExitCodes.OK ? exit : ExitCodes.INTERNAL;
    }

    private Map<String, Supplier<Callable<Integer>>> commands() {
        Map<String, Supplier<Callable<Integer>>> commands = new LinkedHashMap<>();
        commands.put("up", () -> new UpCommand(console, backend, stop, System.getenv()));
        commands.put("master", () -> new MasterCommand(console, backend, stop, System.getenv()));
        commands.put("node", () -> new NodeCommand(console, backend, stop));
        commands.put("gateway", () -> new GatewayCommand(console, backend, stop));
        commands.put("put", () -> PutCommand.of(console, backend));
        commands.put("get", () -> GetCommand.of(console, backend));
        commands.put("exists", () -> ExistsCommand.of(console, backend));
        commands.put("rm", () -> RemoveCommand.of(console, backend));
        commands.put("ls", () -> ListCommand.of(console, backend));
        commands.put("stat", () -> StatCommand.of(console, backend));
        commands.put("replay", () -> new ReplayCommand(console, backend, clock));
        commands.put("demo", () -> new DemoCommand(console, backend, clock));
        commands.put("datadist", DataDistCommand::new);
        commands.put("bench", BenchCommand::new);
        commands.put("links", () -> new LinksCommand(console, clock));
        commands.put("probe", () -> new ProbeCommand(console, clock));
        commands.put("explain", () -> new ExplainCommand(console));
        commands.put("warm-up", () -> new WarmUpCommand(console, backend, clock));
        return commands;
    }

    /** A command that is named first is the only one made: reflection on all would cost a start. */
    private CommandLine commandLine(String... args) {
        CommandLine root = new CommandLine(new Root());
        Map<String, Supplier<Callable<Integer>>> commands = commands();
        Supplier<Callable<Integer>> named = args.length == 0 ? null : commands.get(args[0]);
        if (named != null) {
            root.addSubcommand(named.get());
        } else {
            commands.values().forEach(command -> root.addSubcommand(command.get()));
        }
        CommandLine bench = root.getSubcommands().get("bench");
        if (bench != null) {
            bench.addSubcommand(new BenchTransferCommand(console, clock, stop));
            bench.addSubcommand(new BenchStoreCommand(console, clock, backend));
            bench.addSubcommand(new BenchMasterCommand(console, clock));
            bench.addSubcommand(new BenchAllocatorCommand(console, clock));
            bench.addSubcommand(new BenchDataDistCommand(console, clock));
        }
        CommandLine datadist = root.getSubcommands().get("datadist");
        if (datadist != null) {
            datadist.addSubcommand(new DataDistDemoCommand(console, clock));
            datadist.addSubcommand(new DataDistPeerCommand(console, clock));
        }
        for (CommandLine command : root.getSubcommands().values()) {
            command.getCommandSpec().mixinStandardHelpOptions(true);
            if (command.getCommand() instanceof DeclaresOptions declaring) {
                declaring.declare(command.getCommandSpec());
            }
            for (Object shared : command.getMixins().values()) {
                if (shared instanceof DeclaresOptions declaring) {
                    declaring.declare(command.getCommandSpec());
                }
            }
        }
        root.setOut(new PrintWriter(console.out(), true, StandardCharsets.UTF_8));
        root.setErr(new PrintWriter(console.err(), true, StandardCharsets.UTF_8));
        root.setParameterExceptionHandler(this::misused);
        root.setExecutionExceptionHandler((e, command, parsed) -> broken(e, args));
        root.setExpandAtFiles(false);
        root.setOverwrittenOptionsAllowed(true);
        return root;
    }

    /** A wrong command line: what is wrong, what was probably meant, where to read on. */
    private int misused(ParameterException e, String[] args) {
        String wrong = String.valueOf(e.getMessage()).replace('\n', ' ');
        if (wantsJson(args)) {
            Output.document(console, StoreCode.INVALID_PARAMS, wrong, ExitCodes.USAGE);
        }
        console.note("error: " + wrong);
        if (e instanceof UnmatchedArgumentException unmatched
                && !unmatched.getSuggestions().isEmpty()) {
            console.note("did you mean " + String.join(" or ", unmatched.getSuggestions()) + "?");
        }
        String command = e.getCommandLine().getCommandSpec().qualifiedName();
        console.note(
                "run '"
                        + command.replaceFirst("^cassia", console.program())
                        + " --help' for its options");
        return ExitCodes.USAGE;
    }

    /** Also when the line cannot be understood otherwise. */
    private static boolean wantsJson(String... args) {
        List<String> all = List.of(args);
        int end = all.indexOf("--");
        return all.subList(0, end < 0 ? all.size() : end).contains("--json");
    }

    /** A setting of the environment that no command can work with. */
    private int refused(String detail, String... args) {
        if (wantsJson(args)) {
            Output.document(console, StoreCode.INVALID_PARAMS, detail, ExitCodes.USAGE);
        }
        Output.tell(console, StoreCode.INVALID_PARAMS, detail);
        console.flush();
        return ExitCodes.USAGE;
    }

    /** An exception is a failure on its way, or a defect; only a defect is worth a stack trace. */
    private int broken(Exception e, String... args) {
        boolean json = wantsJson(args);
        if (e instanceof CassiaException failure) {
            int exit = ExitCodes.of(failure.code());
            if (json) {
                Output.document(console, failure.code(), failure.detail(), exit);
            }
            Output.tell(console, failure.code(), failure.detail());
            return exit;
        }
        if (json) {
            Output.document(console, StoreCode.INTERNAL_ERROR, e.toString(), ExitCodes.INTERNAL);
        }
        console.note("error: internal: " + e);
        if (System.getenv(DEBUG) != null) {
            e.printStackTrace(console.err());
        } else {
            console.note("set " + DEBUG + "=1 to see where");
        }
        return ExitCodes.INTERNAL;
    }

    /** {@code cassia} alone. */
    @Command(
            name = "cassia",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "KVCache store and transfer platform, wire-compatible with Mooncake.",
            synopsisSubcommandLabel = "COMMAND",
            footerHeading = "%nFirst steps:%n",
            footer = {
                "  cassia demo                    what it does, in a few seconds",
                "  cassia up --memory 2GiB        a cluster in one process",
                "  cassia put hello README.md     an object into it",
                "  cassia COMMAND --help          options and examples",
                "",
                "Exit codes: 0 ok, 1 internal, 2 usage, 3 not found, 4 refused or full,",
                "5 unreachable or timeout, 6 wrong data.",
                "Environment: CASSIA_MASTER, CASSIA_METADATA, CASSIA_LOG_LEVEL (error, warn, info,",
                "debug), CASSIA_JAVA_OPTS."
            })
    static final class Root implements Runnable {
        @picocli.CommandLine.Spec private CommandSpec spec = CommandSpec.create();

        @Override
        public void run() {
            spec.commandLine().usage(spec.commandLine().getOut());
        }
    }

    /** Immutable. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Cli.class.getPackage().getImplementationVersion();
            return new String[] {
                "cassia " + (version == null ? "development" : version), "java " + Runtime.version()
            };
        }
    }
}
