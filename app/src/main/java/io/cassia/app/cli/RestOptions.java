package io.cassia.app.cli;

import io.cassia.app.cluster.Running;
import io.cassia.gateways.rest.RestAccess;
import io.cassia.gateways.rest.RestConfig;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** What the REST service can be told. Confined to its command. */
final class RestOptions {
    private static final int OFF = -1;
    private static final RestConfig DEFAULT = RestConfig.DEFAULT;

    /** Limit of one request's work in the cluster. */
    static final Duration DEADLINE = Duration.ofSeconds(30);

    @Option(
            names = "--rest-port",
            paramLabel = "PORT",
            defaultValue = "${env:CASSIA_REST_PORT:-9300}",
            converter = PortOrOff.class,
            description =
                    "Port of the REST service; 0 takes a free one, 'off' starts none. Default:"
                            + " $CASSIA_REST_PORT, else 9300.")
    private int port;

    @Option(
            names = "--rest-buffers",
            paramLabel = "SIZE",
            defaultValue = "256MiB",
            converter = Converters.Size.class,
            description =
                    "Memory for the bodies of all REST requests in flight; larger objects pass"
                            + " through it in pieces. Default: 256MiB.")
    private long bufferBytes;

    @Option(
            names = "--rest-requests",
            paramLabel = "N",
            defaultValue = "64",
            converter = Converters.Count.class,
            description = "REST requests at once; more are refused with 503. Default: 64.")
    private int requests;

    @Option(
            names = "--rest-patience",
            paramLabel = "DURATION",
            defaultValue = "30s",
            converter = Converters.Seconds.class,
            description =
                    "How long a REST client may neither send nor take a byte, and how long a"
                            + " request waits for buffers. Default: 30s.")
    private Duration patience = DEFAULT.patience();

    @Option(
            names = "--rest-key-store",
            paramLabel = "FILE",
            description = {
                "PKCS#12 file with the key of the REST service: HTTPS. Its password is in",
                "CASSIA_REST_PASSWORD. Default: $CASSIA_REST_KEY_STORE, else HTTP.",
                "With CASSIA_REST_TOKEN requests must carry it: Authorization: Bearer TOKEN."
            })
    private @Nullable Path keyStore;

    @Option(
            names = "--rest-lend-from",
            paramLabel = "DIR",
            split = ",",
            defaultValue = "${env:CASSIA_REST_LEND_FROM:-/dev/shm}",
            description = {
                "Directories, separated by commas, whose files of other programs may be lent by",
                "/api/mount_shm and /api/reconfigure; 'none' for none. Default:",
                "$CASSIA_REST_LEND_FROM, else /dev/shm."
            })
    private List<String> lendFrom = List.of();

    /** A port, or {@code off}. */
    static final class PortOrOff implements ITypeConverter<Integer> {
        private static final int HIGHEST = 65_535;

        @Override
        public Integer convert(String text) {
            if (text.equals("off")) {
                return OFF;
            }
            try {
                return Converters.whole(text, 0, HIGHEST);
            } catch (TypeConversionException e) {
                throw new TypeConversionException(
                        "'" + text + "' is not a port, 0 to " + HIGHEST + ", or 'off'");
            }
        }
    }

    boolean isOff() {
        return port == OFF;
    }

    /**
     * INVALID_PARAMS when there is nothing to run.
     *
     * @param host address to listen on
     * @param variables the environment, which has the secrets
     */
    Outcome<RestConfig> config(String host, Map<String, String> variables) {
        if (isOff() || bufferBytes < 1 || patience.isZero()) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "--rest-port must not be 'off' here, --rest-buffers and --rest-patience not 0");
        }
        return directories()
                .then(
                        directories ->
                                access(variables)
                                        .map(
                                                access ->
                                                        new RestConfig(
                                                                        host,
                                                                        port,
                                                                        bufferBytes,
                                                                        requests,
                                                                        patience)
                                                                .withAccess(access)
                                                                .lendingFrom(directories)));
    }

    private Outcome<List<Path>> directories() {
        if (lendFrom.equals(List.of("none"))) {
            return Outcome.ok(List.of());
        }
        List<Path> directories = new ArrayList<>();
        for (String text : lendFrom) {
            Path directory = Path.of(text.strip());
            if (!directory.isAbsolute() || directory.getNameCount() == 0) {
                return Outcome.failed(
                        StoreCode.INVALID_PARAMS,
                        "--rest-lend-from: '%s' must be the absolute path of a directory below /"
                                .formatted(text));
            }
            directories.add(directory.normalize());
        }
        return Outcome.ok(directories);
    }

    private Outcome<RestAccess> access(Map<String, String> variables) {
        Optional<Path> keys =
                Optional.ofNullable(keyStore)
                        .or(
                                () ->
                                        Optional.ofNullable(variables.get("CASSIA_REST_KEY_STORE"))
                                                .filter(text -> !text.isBlank())
                                                .map(Path::of));
        try {
            return Outcome.ok(
                    new RestAccess(
                            keys,
                            variables.getOrDefault("CASSIA_REST_PASSWORD", ""),
                            variables.getOrDefault("CASSIA_REST_TOKEN", "").strip()));
        } catch (IllegalArgumentException e) {
            return Outcome.failed(StoreCode.INVALID_PARAMS, "CASSIA_REST_TOKEN: " + e.getMessage());
        }
    }

    /** Lines to paste, or none when there is no service. */
    static String examples(Running running) {
        String address = running.addresses().get("rest");
        return address == null
                ? ""
                : """
                from a shell over HTTP:
                  curl -T README.md %s/api/put/readme
                  curl %s/api/get/readme
                """
                        .formatted(address, address);
    }
}
