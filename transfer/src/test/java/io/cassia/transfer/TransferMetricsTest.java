package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Each declared meter moves when what it counts happens. */
final class TransferMetricsTest {
    private static final String CANCELLATIONS = "cassia.transfer.cancellations";
    private static final String UNSENT = "cassia.transfer.notification.failures";

    @Test
    void each_meter_moves() throws IOException {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        SimpleMeterRegistry served = new SimpleMeterRegistry();
        // The arena first, so that it outlives the transfers that the engines end when they close.
        try (Arena arena = Arena.ofShared();
                TransferEngine engine =
                        TransferEngine.start(Peers.overTcp(), Clock.system(), meters).orThrow();
                TransferEngine target =
                        TransferEngine.start(Peers.overTcp(), Clock.system(), served).orThrow()) {
            Region region = target.allocate(100).orThrow();
            RegisteredBuffer buffer =
                    target.register(region.memory(), BufferOptions.DEFAULT).orThrow();
            SegmentHandle handle = engine.openSegment(target.localName()).orThrow();
            List<TransferRequest> requests =
                    List.of(
                            new TransferRequest(
                                    Opcode.READ, arena.allocate(7), handle, buffer.address()),
                            new TransferRequest(
                                    Opcode.WRITE, arena.allocate(5), handle, buffer.address()),
                            new TransferRequest(
                                    Opcode.WRITE, arena.allocate(4), handle, buffer.address()));
            assertThat(engine.transfer(requests, Peers.DEADLINE)).allMatch(Outcome::isOk);
            for (String role : List.of("client", "server")) {
                SimpleMeterRegistry registry = role.equals("client") ? meters : served;
                Peers.eventually("counted", () -> count(registry, "requests", role, "write") == 2);
                assertThat(count(registry, "bytes", role, "read")).isEqualTo(7);
                assertThat(count(registry, "bytes", role, "write")).isEqualTo(9);
                assertThat(count(registry, "requests", role, "read")).isEqualTo(1);
            }
            assertThat(
                            meters.get("cassia.transfer.route")
                                    .tag("transport", "tcp")
                                    .tag("reason", "not-allowed")
                                    .counter()
                                    .count())
                    .isEqualTo(3);
            assertThat(gauge(meters, "idle")).isEqualTo(1);
            assertThat(gauge(meters, "busy")).isZero();
            assertThat(gauge(meters, "connecting")).isZero();
            assertThat(served.get("cassia.transfer.server.connections").gauge().value())
                    .isEqualTo(1);
            assertThat(
                            engine.transfer(
                                    List.of(
                                            new TransferRequest(
                                                    Opcode.READ, arena.allocate(1), handle, 1)),
                                    Peers.DEADLINE))
                    .noneMatch(Outcome::isOk);
            assertThat(sum(meters, "cassia.transfer.failures")).isEqualTo(1);
            assertThat(sum(meters, "cassia.transfer.lane.losses")).isEqualTo(1);
            assertThat(sum(served, "cassia.transfer.rejections")).isEqualTo(1);
            Peers.eventually("closed", () -> sum(served, "cassia.transfer.server.closed") == 1);
            try (PeerStandIn hung = new PeerStandIn(2, PeerStandIn.Connection::awaitEnd)) {
                SegmentHandle other = engine.openSegment(hung.name()).orThrow();
                Batch batch = engine.allocateBatch(1).orThrow();
                assertThat(
                                batch.submit(
                                                List.of(
                                                        new TransferRequest(
                                                                Opcode.READ,
                                                                arena.allocate(1),
                                                                other,
                                                                1)))
                                        .isOk())
                        .isTrue();
                Peers.eventually("busy", () -> gauge(meters, "busy") == 1);
                assertThat(batch.freeDeferred().isOk()).isFalse();
                Peers.eventually("cancelled", () -> sum(meters, CANCELLATIONS) == 1);
                Peers.eventually(
                        "freed",
                        () -> meters.get("cassia.transfer.batches.deferred").gauge().value() == 0);
            }
            try (Batch batch = engine.allocateBatch(1).orThrow()) {
                Delivery _ =
                        batch.submit(
                                        List.of(
                                                new TransferRequest(
                                                        Opcode.READ, arena.allocate(1), handle, 1)),
                                        new Notification("", ""))
                                .orThrow();
                Peers.eventually("not sent", () -> sum(meters, UNSENT) == 1);
            }
            assertThat(sum(served, "cassia.transfer.handshake.exchanges")).isEqualTo(1);
            assertThat(engine.sendNotification(handle, new Notification("", "")).isOk()).isTrue();
            assertThat(served.get("cassia.transfer.inbox.messages").gauge().value()).isEqualTo(1);
            try (RawClient client = new RawClient(target.rpcPort())) {
                client.send(new byte[8]);
                assertThat(client.end(5000)).isNotEqualTo(RawClient.End.OPEN);
            }
            Peers.eventually(
                    "dropped", () -> sum(served, "cassia.transfer.handshake.dropped") == 1);
        }
        assertThat(gauge(meters, "idle")).isZero();
        Set<String> names = new HashSet<>();
        for (Meter meter : meters.getMeters()) {
            names.add(meter.getId().getName());
        }
        for (Meter meter : served.getMeters()) {
            names.add(meter.getId().getName());
            assertThat(meter.getId().getDescription()).as(meter.getId().getName()).isNotBlank();
        }
        assertThat(names)
                .containsExactlyInAnyOrder(
                        "cassia.transfer.bytes",
                        "cassia.transfer.requests",
                        "cassia.transfer.failures",
                        "cassia.transfer.rejections",
                        CANCELLATIONS,
                        UNSENT,
                        "cassia.transfer.batches.deferred",
                        "cassia.transfer.inbox.messages",
                        "cassia.transfer.lanes",
                        "cassia.transfer.route",
                        "cassia.transfer.lane.losses",
                        "cassia.transfer.server.connections",
                        "cassia.transfer.server.closed",
                        "cassia.transfer.handshake.exchanges",
                        "cassia.transfer.handshake.dropped");
    }

    private static double count(
            SimpleMeterRegistry registry, String what, String role, String direction) {
        return registry.get("cassia.transfer." + what)
                .tag("role", role)
                .tag("direction", direction)
                .tag("transport", "tcp")
                .counter()
                .count();
    }

    private static double gauge(SimpleMeterRegistry registry, String state) {
        return registry.get("cassia.transfer.lanes").tag("state", state).gauge().value();
    }

    private static double sum(SimpleMeterRegistry registry, String name) {
        return registry.find(name).counters().stream().mapToDouble(Counter::count).sum();
    }
}
