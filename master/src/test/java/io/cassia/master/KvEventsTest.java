package io.cassia.master;

import static io.cassia.master.TestMaster.A;
import static io.cassia.master.TestMaster.json;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.master.events.KvEventsConfig;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessagePack;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Events of stored and removed objects as a subscriber gets them (spec mooncake-store 12.5). */
class KvEventsTest {
    private static final ByteString TENANT = ByteString.of("default");

    private static int freePort() throws IOException {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        }
    }

    private static MasterConfig.Builder config(String endpoint, boolean keys, int queue) {
        return TestMaster.config()
                .kvEvents(Optional.of(new KvEventsConfig(endpoint, "store-1", true, keys, queue)));
    }

    /** A subscriber; confined to its test. */
    private static final class Subscriber implements AutoCloseable {
        private final ZContext context = new ZContext();
        private final ZMQ.Socket socket = context.createSocket(SocketType.SUB);
        private long sequence;

        Subscriber(String endpoint) {
            socket.setReceiveTimeOut(10_000);
            socket.subscribe(new byte[0]);
            boolean _ = socket.connect(endpoint);
        }

        /** The events of the next message. */
        List<JsonNode> next() throws IOException {
            byte[] topic = socket.recv();
            assertThat(topic).as("no message came").isNotNull().isEmpty();
            long number = ByteBuffer.wrap(socket.recv()).getLong();
            assertThat(number).isGreaterThan(sequence);
            sequence = number;
            byte[] payload = socket.recv();
            assertThat(socket.hasReceiveMore()).isFalse();
            String text = MessagePack.newDefaultUnpacker(payload).unpackValue().toJson();
            JsonNode message = JsonMapper.shared().readTree(text);
            assertThat(message.size()).isEqualTo(3);
            assertThat(message.get(2).asInt()).isZero();
            return message.get(1).valueStream().toList();
        }

        /** {@code type key} of the next events. */
        List<String> next(int count) throws IOException {
            List<String> found = new ArrayList<>();
            while (found.size() < count) {
                for (JsonNode event : next()) {
                    found.add(
                            event.get("event_type").asString()
                                    + " "
                                    + event.get("object_key").asString());
                }
            }
            return found;
        }

        @Override
        public void close() {
            context.close();
        }
    }

    /** A subscription takes effect some time after it was made: puts until one is seen. */
    private static void awaitSubscription(TestMaster master, Subscriber subscriber)
            throws IOException {
        int tries = 0;
        subscriber.socket.setReceiveTimeOut(50);
        byte[] first = null;
        while (first == null) {
            assertThat(++tries).isLessThan(200);
            master.put("probe-" + tries, 1);
            first = subscriber.socket.recv();
        }
        byte[] _ = subscriber.socket.recv();
        byte[] _ = subscriber.socket.recv();
        subscriber.socket.setReceiveTimeOut(10_000);
    }

    @Test
    void stored_and_removed_objects_are_published_in_order() throws Exception {
        String endpoint = "tcp://127.0.0.1:" + freePort();
        try (TestMaster master = TestMaster.start(config(endpoint, true, 1000)).mounted();
                Subscriber subscriber = new Subscriber(endpoint)) {
            awaitSubscription(master, subscriber);
            master.put("k", 10);
            master.ok(MasterMethods.REMOVE, new Args.Remove(ByteString.of("k"), true, TENANT));
            // An unfinished put was never there.
            master.ok(
                    MasterMethods.PUT_START,
                    new Args.PutStart(
                            A, ByteString.of("half"), 10, ReplicateConfig.DEFAULT, TENANT));
            master.ok(
                    MasterMethods.PUT_REVOKE,
                    new Args.PutRevoke(A, ByteString.of("half"), 4, TENANT));
            upsert(master, "u", 10);
            upsert(master, "u", 20);
            master.ok(
                    MasterMethods.UNMOUNT_SEGMENT,
                    new Args.UnmountSegment(TestMaster.segment(11, "", 1).id(), A));
            List<String> seen = subscriber.next(5);
            assertThat(seen.subList(0, 4))
                    .containsExactly("stored k", "removed k", "stored u", "stored u");
            assertThat(seen.get(4)).startsWith("removed ");
            JsonNode status = json(master.get("/kv_events/status"));
            assertThat(status.get("enabled").asBoolean()).isTrue();
            assertThat(status.get("published_events").asLong()).isGreaterThanOrEqualTo(5);
            assertThat(status.get("dropped_events").asLong()).isZero();
        }
    }

    private static void upsert(TestMaster master, String key, long bytes) {
        ByteString name = ByteString.of(key);
        master.ok(
                MasterMethods.UPSERT_START,
                new Args.PutStart(A, name, bytes, ReplicateConfig.DEFAULT, TENANT));
        master.ok(
                MasterMethods.UPSERT_END,
                new Args.PutEnd(A, new ObjectMeta(name, OptionalLong.empty()), 4, TENANT));
    }

    @Test
    void keys_that_are_no_numbers_are_left_out_when_keys_may_not_be_told() throws Exception {
        String endpoint = "tcp://127.0.0.1:" + freePort();
        try (TestMaster master = TestMaster.start(config(endpoint, false, 1000)).mounted()) {
            master.put("k", 10);
            master.put("17", 10);
            until(() -> status(master, "published_events") == 1);
            assertThat(status(master, "skipped_unparsed_keys")).isEqualTo(1);
        }
    }

    @Test
    void the_queue_has_an_end_and_drops_the_oldest() throws Exception {
        String endpoint = "tcp://127.0.0.1:" + freePort();
        try (TestMaster master = TestMaster.start(config(endpoint, true, 3)).mounted()) {
            // One request under one hold of the lock: nobody can take events in between.
            master.putMany("k", 0, 100, 1);
            until(
                    () ->
                            status(master, "dropped_events") + status(master, "published_events")
                                    == 100);
            assertThat(status(master, "dropped_events")).isGreaterThanOrEqualTo(97 - 3);
        }
    }

    private static long status(TestMaster master, String name) {
        try {
            return json(master.get("/kv_events/status")).get(name).asLong();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void until(BooleanSupplier condition) {
        long end = System.nanoTime() + 10_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.onSpinWait();
        }
    }

    @Test
    void an_endpoint_that_cannot_be_bound_stops_the_start() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String endpoint = "tcp://127.0.0.1:" + taken.getLocalPort();
            assertThat(
                            Master.start(
                                    config(endpoint, true, 10).build(),
                                    Clock.system(),
                                    new SimpleMeterRegistry()))
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed -> {
                                assertThat(failed.code()).isEqualTo(StoreCode.RPC_FAIL);
                                assertThat(failed.detail()).contains(endpoint);
                            });
        }
    }
}
