package io.cassia.lab.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.base.HostPort;
import io.cassia.rpc.RpcClient;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;

/** Reads as Mooncake's own client does: its leases end by time only. */
final class MooncakeReader {
    private MooncakeReader() {}

    static RpcClient connect(String address) {
        HostPort master = HostPort.parse(address, 0).orElseThrow();
        return RpcClient.builder(master.host(), master.port(), new SimpleMeterRegistry()).build();
    }

    static void lease(String address, List<ByteString> keys) {
        try (RpcClient rpc = connect(address)) {
            List<Outcome<ReplicaList>> lists =
                    rpc.call(
                                    MasterMethods.BATCH_GET_REPLICA_LIST,
                                    new Args.Keys(keys, ByteString.of("default")),
                                    Duration.ofSeconds(10))
                            .orThrow();
            assertThat(lists).hasSameSizeAs(keys).allMatch(Outcome::isOk);
        }
    }
}
