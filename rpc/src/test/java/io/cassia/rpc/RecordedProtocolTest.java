package io.cassia.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.pack.Packed;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.testkit.RpcVector;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Edge cases of the framing as upstream's server was recorded to treat them. */
class RecordedProtocolTest {
    @Test
    void the_server_answers_edge_cases_byte_for_byte_like_upstream() throws Exception {
        List<RpcVector> cases =
                RpcVector.requireAll().stream()
                        .filter(vector -> vector.method().equals("(protocol)"))
                        .toList();
        assumeThat(cases).isNotEmpty();
        try (RpcServer server = upstreamAlike()) {
            for (RpcVector each : cases) {
                replay(server, each);
            }
        }
    }

    /** Answers as the recorded master did: nothing is stored. */
    private static RpcServer upstreamAlike() {
        return RpcServer.builder(new SimpleMeterRegistry())
                .register(MasterMethods.EXIST_KEY, _ -> Outcome.ok(false))
                .register(MasterMethods.SERVICE_READY, _ -> Outcome.ok("2.0.0"))
                .register(
                        MasterMethods.REMOVE,
                        _ -> Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "no such object"))
                .register(
                        MasterMethods.PUT_REVOKE,
                        _ -> Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "no such object"))
                .start()
                .orThrow();
    }

    private static void replay(RpcServer server, RpcVector recorded) throws Exception {
        try (RawPeer peer = RawPeer.to(server)) {
            // An attachment was recorded as part of the body.
            peer.send(recorded.request());
            byte[] answer = peer.read(recorded.response().length);
            assertThat(Packed.hex(answer))
                    .as(recorded.toString())
                    .isEqualTo(Packed.hex(recorded.response()));
            if (recorded.response().length == 0) {
                assertThat(peer.isClosedByPeer()).as(recorded.toString()).isTrue();
            } else {
                byte[] next = RawPeer.request(77, MasterMethods.SERVICE_READY, Done.DONE);
                peer.send(next);
                assertThat(peer.readResponse().sequence()).as(recorded.toString()).isEqualTo(77);
            }
        }
    }
}
