package io.cassia.app.cli;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.Security;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** What commands that run a Transfer Engine of their own share. Confined to its command. */
final class EngineOptions {
    @Option(
            names = "--metadata",
            paramLabel = "URI",
            defaultValue = TransferConfig.P2P,
            description = {
                "Where engines find each other: P2PHANDSHAKE, http://host:port/metadata,",
                "etcd://host:port,... or redis://host:port. Default: P2PHANDSHAKE."
            })
    private String metadata = "";

    @Option(
            names = {"--host", "--local-server-name"},
            paramLabel = "HOST",
            defaultValue = "127.0.0.1",
            description = "Name under which peers reach this process. Default: 127.0.0.1.")
    private String host = "";

    @Option(
            names = "--protocol",
            paramLabel = "NAME",
            defaultValue = "tcp",
            converter = ProtocolName.class,
            description = "What moves the bytes: tcp, or rdma on a host with a device.")
    private TransferConfig.Protocol protocol = TransferConfig.Protocol.TCP;

    @Option(
            names = "--transport",
            paramLabel = "NAME,...",
            split = ",",
            defaultValue = "tcp",
            converter = TransportName.class,
            description = "What may carry them: tcp, uds, process-vm, shm, local. Default: tcp.")
    private List<Transport> transports = List.of();

    @Option(
            names = "--key-store",
            paramLabel = "FILE",
            description = {
                "PKCS#12 file with this engine's key: secure mode, which only secure peers of the",
                "same cluster can be met in. Its password is in CASSIA_STORE_PASSWORD, the",
                "cluster's token in CASSIA_CLUSTER_TOKEN."
            })
    private @Nullable Path keyStore;

    @Option(
            names = "--trust-store",
            paramLabel = "FILE",
            description = "PKCS#12 file with the authorities of peers. Default: the key store.")
    private @Nullable Path trustStore;

    /** A protocol, in upstream's spelling. */
    static final class ProtocolName implements ITypeConverter<TransferConfig.Protocol> {
        @Override
        public TransferConfig.Protocol convert(String text) {
            try {
                return TransferConfig.Protocol.valueOf(text.toUpperCase(Locale.ROOT));
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException("'" + text + "' is not tcp or rdma");
            }
        }
    }

    /** A transport, by its label. */
    static final class TransportName implements ITypeConverter<Transport> {
        @Override
        public Transport convert(String text) {
            for (Transport transport : Transport.values()) {
                if (transport.label().equals(text)) {
                    return transport;
                }
            }
            throw new TypeConversionException(
                    "'" + text + "' is not tcp, uds, process-vm, shm or local");
        }
    }

    /** The options that start another process in the same way; secrets pass by the environment. */
    List<String> arguments() {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "--metadata",
                                metadata,
                                "--host",
                                host,
                                "--protocol",
                                protocol.name().toLowerCase(Locale.ROOT)));
        if (keyStore != null) {
            arguments.addAll(List.of("--key-store", keyStore.toString()));
        }
        if (trustStore != null) {
            arguments.addAll(List.of("--trust-store", trustStore.toString()));
        }
        return arguments;
    }

    /** What may carry bytes. */
    Set<Transport> transports() {
        return Set.copyOf(transports);
    }

    /** Starts an engine with the transports that were asked for. */
    Outcome<TransferEngine> start(Clock clock, TransferConfig.Timeouts timeouts) {
        return start(clock, timeouts, transports());
    }

    /** The same with others. */
    Outcome<TransferEngine> start(
            Clock clock, TransferConfig.Timeouts timeouts, Set<Transport> allowed) {
        if (host.isBlank()) {
            return Outcome.failed(
                    TransferCode.ERR_INVALID_ARGUMENT,
                    "--host is empty; name the address under which peers reach this process");
        }
        return security(System.getenv())
                .then(
                        security ->
                                TransferEngine.start(
                                        TransferConfig.of(metadata, host)
                                                .withTransports(allowed)
                                                .withTimeouts(timeouts)
                                                .withSecurity(security)
                                                .withNetwork(
                                                        TransferConfig.Network.DEFAULT.withProtocol(
                                                                protocol)),
                                        clock,
                                        new SimpleMeterRegistry()));
    }

    private Outcome<Security> security(Map<String, String> environment) {
        Path keys = keyStore;
        if (keys == null) {
            return Outcome.ok(Security.PLAIN);
        }
        Path authorities = trustStore;
        try {
            return Outcome.ok(
                    Security.mutual(
                            keys,
                            authorities == null ? keys : authorities,
                            environment.getOrDefault("CASSIA_STORE_PASSWORD", ""),
                            environment.getOrDefault("CASSIA_CLUSTER_TOKEN", "")));
        } catch (IllegalArgumentException e) {
            return Outcome.failed(
                    TransferCode.ERR_INVALID_ARGUMENT, "CASSIA_CLUSTER_TOKEN: " + e.getMessage());
        }
    }
}
