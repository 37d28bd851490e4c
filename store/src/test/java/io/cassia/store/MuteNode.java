package io.cassia.store;

import io.cassia.rpc.RpcClient;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.testkit.EngineStandIn;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Lends memory by the master's word, takes what is written and never answers: a node that was
 * stopped with the bytes in its socket. Guarded: a thread per connection.
 */
final class MuteNode implements AutoCloseable {
    private final EngineStandIn engine;
    private final AtomicLong taken = new AtomicLong();
    private volatile Runnable beforeItIsFound = () -> {};
    private volatile boolean hangsUp;

    private MuteNode() throws IOException {
        engine = new EngineStandIn();
        engine.start(this::describe, this::swallow);
    }

    /** One that has mounted so many bytes. */
    static MuteNode mounted(String host, int port, long bytes) throws IOException {
        MuteNode node = new MuteNode();
        try (RpcClient master = RpcClient.builder(host, port, new SimpleMeterRegistry()).build()) {
            Segment segment =
                    new Segment(
                            new Uuid(7, 1), node.name(), 1 << 20, bytes, node.name(), "tcp", "");
            master.callExpected(
                            MasterMethods.MOUNT_SEGMENT,
                            new Args.MountSegment(segment, new Uuid(7, 2)),
                            Duration.ofSeconds(20))
                    .orThrow();
            return node;
        } catch (RuntimeException e) {
            node.close();
            throw e;
        }
    }

    /** What happens while a client that meets it for the first time waits. */
    void beforeItIsFound(Runnable meanwhile) {
        beforeItIsFound = meanwhile;
    }

    /** From now on it closes a connection over which bytes come. */
    void hangUp() {
        hangsUp = true;
    }

    /** What it was sent, as far as it has looked. */
    long takenBytes() {
        return taken.get();
    }

    private String name() {
        return engine.name();
    }

    private void swallow(Socket socket) throws IOException {
        byte[] bytes = new byte[64 << 10];
        int count = socket.getInputStream().read(bytes);
        while (count >= 0) {
            taken.addAndGet(count);
            if (hangsUp) {
                return;
            }
            count = socket.getInputStream().read(bytes);
        }
    }

    private String describe() {
        beforeItIsFound.run();
        return engine.descriptor("tcp", engine.dataPort(), 2);
    }

    @Override
    public void close() throws IOException {
        engine.close();
    }
}
