package io.cassia.app.cli;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Locale;
import java.util.Set;
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

    String metadata() {
        return metadata;
    }

    String host() {
        return host;
    }

    String protocol() {
        return protocol.name().toLowerCase(Locale.ROOT);
    }

    /** Starts an engine that speaks its protocol to everybody, also to processes of this host. */
    Outcome<TransferEngine> start(Clock clock, TransferConfig.Timeouts timeouts) {
        TransferConfig config =
                TransferConfig.of(metadata, host)
                        .withTransports(Set.of(Transport.TCP))
                        .withTimeouts(timeouts)
                        .withNetwork(TransferConfig.Network.DEFAULT.withProtocol(protocol));
        return TransferEngine.start(config, clock, new SimpleMeterRegistry());
    }
}
