package io.cassia.transfer;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.transfer.handshake.HandshakeClient;
import io.cassia.transfer.handshake.HandshakeServer;
import io.cassia.transfer.handshake.Inbox;
import io.cassia.transfer.memory.BufferTable;
import io.cassia.transfer.metadata.DescriptorCodec;
import io.cassia.transfer.metadata.HostPort;
import io.cassia.transfer.metadata.HttpMetadataStore;
import io.cassia.transfer.metadata.MetadataStore;
import io.cassia.transfer.metadata.P2pDirectory;
import io.cassia.transfer.metadata.PeerDirectory;
import io.cassia.transfer.metadata.RpcMeta;
import io.cassia.transfer.metadata.SegmentDescriptor;
import io.cassia.transfer.metadata.StoreDirectory;
import io.cassia.transfer.net.Dialer;
import io.cassia.transfer.net.PortBinder;
import io.cassia.transfer.net.Watchdog;
import io.cassia.transfer.transport.TransferMetrics;
import io.cassia.transfer.transport.tcp.ClientContext;
import io.cassia.transfer.transport.tcp.DataServer;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Puts an engine together. Confined to the thread that starts the engine. */
final class EngineAssembly {
    private static final System.Logger LOG = System.getLogger(EngineAssembly.class.getName());

    private final TransferConfig config;
    private final Clock clock;
    private final MeterRegistry meters;
    private final Dialer dialer;

    EngineAssembly(TransferConfig config, Clock clock, MeterRegistry meters) {
        this.config = config;
        this.clock = clock;
        this.meters = meters;
        this.dialer = new Dialer(clock, config.timeouts().connect());
    }

    /** Bound listeners. */
    private record Listeners(ServerSocketChannel rpc, ServerSocketChannel data) {}

    /** An engine that listens and is not published yet. */
    Outcome<TransferEngine> build() {
        if (config.isP2p()) {
            return build(Optional.empty());
        }
        return HttpMetadataStore.open(config.metadata()).then(store -> build(Optional.of(store)));
    }

    private Outcome<TransferEngine> build(Optional<MetadataStore> store) {
        return switch (listen()) {
            case Outcome.Failed<Listeners> failed -> {
                store.ifPresent(MetadataStore::close);
                yield failed.as();
            }
            case Outcome.Ok<Listeners>(Listeners listeners) ->
                    Outcome.ok(assemble(listeners, store));
        };
    }

    private Outcome<Listeners> listen() {
        long deadline = clock.nanos() + config.timeouts().connect().toNanos();
        return dialer.resolve(config.localHost(), deadline)
                .then(
                        addresses -> {
                            TransferConfig.Ports ports = config.ports();
                            PortBinder binder =
                                    new PortBinder(loopback(addresses), ports.min(), ports.max());
                            return binder.bind(ports.rpc())
                                    .then(rpc -> second(rpc, binder.bind(ports.data())));
                        });
    }

    private static Outcome<Listeners> second(
            ServerSocketChannel rpc, Outcome<ServerSocketChannel> data) {
        if (!data.isOk()) {
            try {
                rpc.close();
            } catch (IOException e) {
                LOG.log(System.Logger.Level.DEBUG, "listener-close-failed", e);
            }
        }
        return data.map(listener -> new Listeners(rpc, listener));
    }

    /**
     * A host name that peers can only use on this host is served on this host only; any other one
     * on all interfaces, as upstream does it.
     */
    private static @Nullable InetAddress loopback(List<InetAddress> addresses) {
        return addresses.stream().allMatch(InetAddress::isLoopbackAddress)
                ? addresses.getFirst()
                : null;
    }

    private TransferEngine assemble(Listeners listeners, Optional<MetadataStore> store) {
        int rpcPort = listeners.rpc().socket().getLocalPort();
        int dataPort = listeners.data().socket().getLocalPort();
        String name =
                config.isP2p() || config.segmentName().isEmpty()
                        ? new HostPort(config.localHost(), rpcPort).toString()
                        : config.segmentName();
        BufferTable buffers = new BufferTable();
        Supplier<String> descriptor =
                () ->
                        DescriptorCodec.encode(
                                SegmentDescriptor.tcp(
                                        name, dataPort, LocalMemory.published(buffers, name)),
                                DescriptorCodec.timestamp(clock.epochMillis()));
        Watchdog watchdog = new Watchdog(clock, "cassia-watchdog-" + rpcPort);
        HandshakeClient handshake = new HandshakeClient(dialer, watchdog, clock);
        PeerDirectory directory =
                store.isEmpty()
                        ? new P2pDirectory(handshake, descriptor)
                        : new StoreDirectory(
                                store.get(),
                                "",
                                name,
                                endpoint(rpcPort),
                                descriptor,
                                StoreDirectory.REFRESH,
                                clock);
        TransferConfig.Timeouts timeouts = config.timeouts();
        TransferMetrics metrics = new TransferMetrics(meters, name);
        ClientContext tcp =
                new ClientContext(
                        dialer,
                        watchdog,
                        clock,
                        metrics,
                        config.lanesPerPeer(),
                        timeouts.stall().toNanos());
        EngineParts parts = new EngineParts(config, clock, metrics, directory, tcp, new Runners());
        DataServer data =
                DataServer.start(
                        listeners.data(), buffers, timeouts.stall(), watchdog, clock, metrics);
        Inbox inbox = new Inbox();
        HandshakeServer handshakes =
                HandshakeServer.start(
                        listeners.rpc(),
                        descriptor,
                        inbox,
                        timeouts.connect().multipliedBy(2),
                        watchdog,
                        clock,
                        meters);
        EngineServers servers = new EngineServers(handshakes, inbox, data, rpcPort, dataPort);
        return new TransferEngine(name, buffers, servers, handshake, parts);
    }

    private RpcMeta endpoint(int rpcPort) {
        return new RpcMeta(config.localHost(), rpcPort, OptionalLong.of(clock.epochMillis()));
    }
}
