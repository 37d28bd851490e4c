package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.base.Entropy;
import io.cassia.rpc.RpcClient;
import io.cassia.rpc.RpcServer;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.store.StoreClientConfig.Calls;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a node lends, and a master that fails. */
class MountsTest {
    private static final Uuid CLIENT = new Uuid(1, 2);

    private final BlockingQueue<Uuid> mounting = new LinkedBlockingQueue<>();
    private final BlockingQueue<Uuid> unmounted = new LinkedBlockingQueue<>();

    @Test
    void segment_that_is_mounted_perhaps_is_unmounted() throws Exception {
        Clock clock = Clock.system();
        RpcServer.Builder master =
                RpcServer.builder(new SimpleMeterRegistry())
                        .register(MasterMethods.SERVICE_READY, _ -> Outcome.ok("2.0.0"))
                        .register(
                                MasterMethods.MOUNT_SEGMENT,
                                mount -> {
                                    mounting.add(mount.segment().id());
                                    throw new IllegalStateException("after all was done");
                                })
                        .register(
                                MasterMethods.UNMOUNT_SEGMENT,
                                unmount -> {
                                    unmounted.add(unmount.segment());
                                    return Outcome.done();
                                });
        try (RpcServer server = master.start().orThrow();
                TransferEngine engine =
                        TransferEngine.start(
                                        TransferConfig.p2p("127.0.0.1"),
                                        clock,
                                        new SimpleMeterRegistry())
                                .orThrow();
                MasterLink link = link(server, clock)) {
            Mounts mounts = new Mounts(engine, link, CLIENT, Entropy.system(), clock);
            Outcome<List<Uuid>> mounted =
                    mounts.mount(1 << 20, 1 << 20, Deadline.after(clock, Duration.ofSeconds(30)));
            assertThat(mounted).isInstanceOf(Outcome.Failed.class);
            assertThat(unmounted.poll(30, TimeUnit.SECONDS)).isEqualTo(mounting.take());
            assertThat(mounts.segments()).isEmpty();
        }
    }

    private static MasterLink link(RpcServer server, Clock clock) {
        RpcClient rpc =
                RpcClient.builder("127.0.0.1", server.port(), new SimpleMeterRegistry()).build();
        Outcome<Done> connected = rpc.connect();
        assertThat(connected.isOk()).isTrue();
        return MasterLink.open(
                        rpc,
                        Calls.DEFAULT,
                        CLIENT,
                        clock,
                        Deadline.after(clock, Duration.ofSeconds(30)))
                .orThrow();
    }
}
