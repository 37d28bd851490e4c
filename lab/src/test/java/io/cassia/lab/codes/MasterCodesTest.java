package io.cassia.lab.codes;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.lab.coverage.Coverage;
import io.cassia.lab.coverage.Covers;
import io.cassia.master.Master;
import io.cassia.master.MasterConfig;
import io.cassia.rpc.RpcClient;
import io.cassia.rpc.RpcMethod;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.NofSegment;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicaType;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.StoreClient;
import io.cassia.store.StoreClientConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Codes of the master, over Mooncake's own RPC wire. */
class MasterCodesTest {
    private static final ByteString TENANT = ByteString.of("default");
    private static final Uuid WRITER = new Uuid(1, 2);
    private static final Uuid OTHER = new Uuid(3, 4);
    private static final Segment SEGMENT =
            new Segment(new Uuid(11, 12), "node:1", 0x10000, 1 << 20, "127.0.0.1:1", "tcp", "host");

    private Master master;
    private RpcClient rpc;

    @BeforeEach
    void start() {
        master = master(MasterConfig.builder());
        rpc = RpcClient.builder("127.0.0.1", master.rpcPort(), new SimpleMeterRegistry()).build();
        call(MasterMethods.MOUNT_SEGMENT, new Args.MountSegment(SEGMENT, WRITER)).orThrow();
        call(MasterMethods.REMOUNT_SEGMENT, new Args.ReMountSegment(List.of(SEGMENT), WRITER))
                .orThrow();
    }

    @AfterEach
    void stop() {
        rpc.close();
        master.close();
    }

    private static Master master(MasterConfig.Builder config) {
        return Master.start(
                        config.rpc("127.0.0.1", 0).httpOff().build(),
                        Clock.system(),
                        new SimpleMeterRegistry())
                .orThrow();
    }

    private <A, T> Outcome<T> call(RpcMethod<A, Outcome<T>> method, A args) {
        return rpc.callExpected(method, args, Duration.ofSeconds(10));
    }

    private static ByteString key(String text) {
        return ByteString.of(text);
    }

    private Outcome<?> putStart(String key, Uuid client) {
        return call(
                MasterMethods.PUT_START,
                new Args.PutStart(client, key(key), 1000, ReplicateConfig.DEFAULT, TENANT));
    }

    private Outcome<?> putEnd(String key, Uuid client) {
        return call(
                MasterMethods.PUT_END,
                new Args.PutEnd(
                        client,
                        new ObjectMeta(key(key), OptionalLong.empty()),
                        ReplicaType.ALL.number(),
                        TENANT));
    }

    private Outcome<?> remove(String key, boolean force) {
        return call(MasterMethods.REMOVE, new Args.Remove(key(key), force, TENANT));
    }

    @Test
    @Covers(
            store = {StoreCode.REPLICA_IS_NOT_READY, StoreCode.OK},
            scenario = "A key is read and removed while its put has not ended.")
    void unfinished_put_is_neither_read_nor_removed(Coverage coverage) {
        coverage.expect(putStart("half", WRITER), StoreCode.OK);
        Args.Key half = new Args.Key(key("half"), TENANT);
        coverage.expect(call(MasterMethods.GET_REPLICA_LIST, half), StoreCode.REPLICA_IS_NOT_READY);
        coverage.expect(remove("half", true), StoreCode.REPLICA_IS_NOT_READY);
    }

    @Test
    @Covers(
            store = {StoreCode.ILLEGAL_CLIENT, StoreCode.OK},
            scenario = "A client ends the put of another client.")
    void put_is_ended_by_its_writer_only(Coverage coverage) {
        coverage.expect(putStart("mine", WRITER), StoreCode.OK);
        coverage.expect(putEnd("mine", OTHER), StoreCode.ILLEGAL_CLIENT);
        coverage.expect(putEnd("mine", WRITER), StoreCode.OK);
    }

    @Test
    @Covers(
            store = {StoreCode.INVALID_WRITE, StoreCode.OK},
            scenario = "A writer takes back a put that it has already ended.")
    void ended_put_cannot_be_revoked(Coverage coverage) {
        coverage.expect(putStart("done", WRITER), StoreCode.OK);
        coverage.expect(putEnd("done", WRITER), StoreCode.OK);
        coverage.expect(
                call(
                        MasterMethods.PUT_REVOKE,
                        new Args.PutRevoke(WRITER, key("done"), ReplicaType.ALL.number(), TENANT)),
                StoreCode.INVALID_WRITE);
    }

    @Test
    @Covers(
            store = {StoreCode.OBJECT_HAS_LEASE, StoreCode.OK},
            scenario = "A key is removed while a reader holds a lease on it.")
    void leased_object_is_removed_by_force_only(Coverage coverage) {
        coverage.expect(putStart("read", WRITER), StoreCode.OK);
        coverage.expect(putEnd("read", WRITER), StoreCode.OK);
        Args.Key read = new Args.Key(key("read"), TENANT);
        coverage.expect(call(MasterMethods.GET_REPLICA_LIST, read), StoreCode.OK);
        coverage.expect(remove("read", false), StoreCode.OBJECT_HAS_LEASE);
        coverage.expect(remove("read", true), StoreCode.OK);
    }

    @Test
    @Covers(
            store = StoreCode.SEGMENT_NOT_FOUND,
            scenario = "The state of a segment is asked that nobody has mounted.")
    void unknown_segment(Coverage coverage) {
        coverage.expect(
                call(MasterMethods.QUERY_SEGMENT_STATUS, "no-such-node:1"),
                StoreCode.SEGMENT_NOT_FOUND);
    }

    @Test
    @Covers(
            store = StoreCode.UNAVAILABLE_IN_CURRENT_MODE,
            scenario = "An NVMe-oF segment is mounted at a master that has no such tier.")
    void absent_tier(Coverage coverage) {
        NofSegment segment = new NofSegment(new Uuid(5, 6), "nof", 0, 4096, "nof:1");
        coverage.expect(
                call(MasterMethods.MOUNT_NOF_SEGMENT, new Args.MountNofSegment(segment, WRITER)),
                StoreCode.UNAVAILABLE_IN_CURRENT_MODE);
    }

    @Test
    @Covers(
            store = StoreCode.UNABLE_OFFLOAD,
            scenario = "A client offers its SSD to a master that does not offload.")
    void offload_is_off(Coverage coverage) {
        coverage.expect(
                call(MasterMethods.MOUNT_LOCAL_DISK_SEGMENT, new Args.Offloading(WRITER, true)),
                StoreCode.UNABLE_OFFLOAD);
    }

    @Test
    @Covers(
            store = StoreCode.INVALID_VERSION,
            scenario = "A client connects to a master that speaks another release.")
    void other_release(Coverage coverage) {
        try (Master future = master(MasterConfig.builder().serviceVersion("9.9.9"))) {
            coverage.expect(
                    StoreClient.connect(
                            StoreClientConfig.of("127.0.0.1:" + future.rpcPort()),
                            Clock.system(),
                            new SimpleMeterRegistry()),
                    StoreCode.INVALID_VERSION);
        }
    }
}
