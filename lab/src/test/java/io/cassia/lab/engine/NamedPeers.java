package io.cassia.lab.engine;

import io.cassia.base.Clock;
import io.cassia.transfer.BufferOptions;
import io.cassia.transfer.Notification;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.RegisteredBuffer;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.TransferRequest;
import io.cassia.transfer.metadata.HttpMetadataServer;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The main of a process in which two engines meet under an address, in every place where one is
 * accepted. Confined to its main thread. Argument: a host. It prints a line per place and ends.
 */
final class NamedPeers {
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private NamedPeers() {}

    public static void main(String[] args) {
        String host = args[0];
        String inUri = host.indexOf(':') < 0 ? host : "[" + host + "]";
        meet("peers", TransferConfig.p2p(host), inUri);
        meet(
                "bind-address",
                TransferConfig.p2p(host)
                        .withNetwork(
                                TransferConfig.Network.DEFAULT.withBindAddress(Optional.of(host))),
                inUri);
        try (HttpMetadataServer server =
                HttpMetadataServer.start(host, 0, Clock.system(), new SimpleMeterRegistry())
                        .orThrow()) {
            String metadata = "http://" + inUri + ":" + server.port() + "/metadata";
            meet("metadata", TransferConfig.of(metadata, host), inUri);
            meet("metadata-literal", TransferConfig.of(server.uri(), host), inUri);
        }
    }

    private static void meet(String place, TransferConfig config, String host) {
        TransferConfig overTcp = config.withTransports(Set.of(Transport.TCP));
        try (TransferEngine target = start(overTcp);
                TransferEngine engine = start(overTcp);
                Arena arena = Arena.ofShared()) {
            if (!target.localName().equals(host + ":" + target.rpcPort())) {
                throw new IllegalStateException("named " + target.localName());
            }
            RegisteredBuffer buffer =
                    target.register(target.allocate(64).orThrow().memory(), BufferOptions.DEFAULT)
                            .orThrow();
            MemorySegment out = arena.allocate(64).fill((byte) 7);
            SegmentHandle handle = engine.openSegment(target.localName()).orThrow();
            engine.transfer(
                            List.of(
                                    new TransferRequest(
                                            Opcode.WRITE, out, handle, buffer.address())),
                            DEADLINE)
                    .getFirst()
                    .orThrow();
            if (buffer.memory().mismatch(out) >= 0) {
                throw new IllegalStateException("other bytes");
            }
            engine.probe(target.localName()).orThrow();
            engine.sendNotification(target.localName(), new Notification("me", place)).orThrow();
        }
        System.out.println(place);
    }

    private static TransferEngine start(TransferConfig config) {
        return TransferEngine.start(config, Clock.system(), new SimpleMeterRegistry()).orThrow();
    }
}
