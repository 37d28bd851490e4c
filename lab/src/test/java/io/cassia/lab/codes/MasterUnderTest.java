package io.cassia.lab.codes;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.master.Master;
import io.cassia.master.MasterConfig;
import io.cassia.rpc.RpcClient;
import io.cassia.rpc.RpcMethod;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicaType;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A master in this process and a Cassia client's connection to it, with the calls that tests need
 * often. Confined to the test's thread.
 */
final class MasterUnderTest implements AutoCloseable {
    static final ByteString TENANT = ByteString.of("default");
    static final Uuid WRITER = new Uuid(1, 2);
    static final Uuid OTHER = new Uuid(3, 4);
    private static final int MIB = 1 << 20;

    private final Master master;
    private final RpcClient rpc;

    MasterUnderTest() {
        this(MasterConfig.builder());
    }

    MasterUnderTest(MasterConfig.Builder config) {
        master = start(config).orThrow();
        rpc = RpcClient.builder("127.0.0.1", master.rpcPort(), new SimpleMeterRegistry()).build();
        rpc.failureDetails(true);
    }

    /** A master on free ports, without the admin server. */
    static Outcome<Master> start(MasterConfig.Builder config) {
        return Master.start(
                config.rpc("127.0.0.1", 0).httpOff().build(),
                Clock.system(),
                new SimpleMeterRegistry());
    }

    <A, T> Outcome<T> call(RpcMethod<A, Outcome<T>> method, A args) {
        return rpc.callExpected(method, args, Duration.ofSeconds(10));
    }

    /** As an upstream client, which does not say that it understands more. */
    <A, T> Outcome<T> callPlain(RpcMethod<A, Outcome<T>> method, A args) {
        rpc.failureDetails(false);
        try {
            return call(method, args);
        } finally {
            rpc.failureDetails(true);
        }
    }

    static ByteString key(String text) {
        return ByteString.of(text);
    }

    static Segment segment(long id, String name) {
        return new Segment(
                new Uuid(id, id), name, id << 32, MIB, "127.0.0.1:" + (1000 + id), "tcp", "");
    }

    /** A segment of 1 MiB; the client is in service afterwards. */
    Segment mount(long id, String name, Uuid client) {
        Segment segment = segment(id, name);
        call(MasterMethods.MOUNT_SEGMENT, new Args.MountSegment(segment, client)).orThrow();
        call(MasterMethods.REMOUNT_SEGMENT, new Args.ReMountSegment(List.of(segment), client))
                .orThrow();
        return segment;
    }

    Outcome<?> start(String key, ReplicateConfig config, long length, ByteString tenant) {
        return call(
                MasterMethods.PUT_START,
                new Args.PutStart(WRITER, key(key), length, config, tenant));
    }

    /** Start and end of an object of 1000 bytes on a segment. */
    void put(String key, String segment) {
        start(key, on(segment), 1000, TENANT).orThrow();
        end(key, TENANT).orThrow();
    }

    Outcome<?> end(String key, ByteString tenant) {
        return call(
                MasterMethods.PUT_END,
                new Args.PutEnd(
                        WRITER,
                        new ObjectMeta(key(key), OptionalLong.empty()),
                        ReplicaType.ALL.number(),
                        tenant));
    }

    static ReplicateConfig on(String segment) {
        return new ReplicateConfig(
                1,
                0,
                0,
                0,
                OptionalLong.empty(),
                false,
                List.of(),
                segment,
                List.of(),
                false,
                0,
                "",
                Optional.empty());
    }

    @Override
    public void close() {
        rpc.close();
        master.close();
    }
}
