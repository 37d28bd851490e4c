package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.cassia.status.CassiaException;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Memory that comes and goes in batches, and what part of it may be named. */
final class RegistrationTest {
    private final Arena arena = Arena.ofShared();
    private final TransferEngine engine = Peers.engine(Peers.overTcp());
    private final TransferEngine peer = Peers.engine(Peers.overTcp());
    private final SegmentHandle handle = peer.openSegment(engine.localName()).orThrow();

    @AfterEach
    void close() {
        peer.close();
        engine.close();
        arena.close();
    }

    private static Code code(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?>(Code code, String detail)
                ? code
                : TransferCode.OK;
    }

    private Code read(long address, long length) {
        return code(
                peer.transfer(
                                List.of(
                                        new TransferRequest(
                                                Opcode.READ,
                                                arena.allocate(length),
                                                handle,
                                                address)),
                                Peers.DEADLINE)
                        .getFirst());
    }

    @Test
    void a_batch_is_registered_and_unregistered_as_a_whole() {
        MemorySegment all = arena.allocate(4096);
        List<MemorySegment> thirds =
                List.of(all.asSlice(2000, 1000), all.asSlice(0, 1000), all.asSlice(1000, 1000));
        List<RegisteredBuffer> buffers = engine.register(thirds, BufferOptions.DEFAULT).orThrow();
        assertThat(buffers)
                .extracting(RegisteredBuffer::address)
                .containsExactly(all.address() + 2000, all.address(), all.address() + 1000);
        assertThat(peer.remoteBuffers(handle).orThrow())
                .containsExactly(
                        new RemoteBuffer(all.address() + 2000, 1000),
                        new RemoteBuffer(all.address(), 1000),
                        new RemoteBuffer(all.address() + 1000, 1000));
        assertThat(read(all.address() + 999, 1)).isEqualTo(TransferCode.OK);
        assertThat(read(all.address() + 250, 500)).as("a part").isEqualTo(TransferCode.OK);
        assertThat(read(all.address() + 999, 2))
                .as("two that touch are not one")
                .isEqualTo(TransferCode.ERR_ADDRESS_NOT_REGISTERED);
        assertThat(engine.unregister(buffers).isOk()).isTrue();
        assertThat(peer.remoteBuffers(handle).orThrow()).isEmpty();
        assertThat(buffers).allMatch(b -> b.state() == RegisteredBuffer.State.CLOSED);
    }

    @Test
    void nothing_of_a_batch_that_overlaps_is_registered() {
        MemorySegment all = arena.allocate(4096);
        Outcome<List<RegisteredBuffer>> inside =
                engine.register(
                        List.of(all.asSlice(0, 100), all.asSlice(200, 100), all.asSlice(299, 10)),
                        BufferOptions.DEFAULT);
        assertThat(code(inside)).isEqualTo(TransferCode.ERR_ADDRESS_OVERLAPPED);
        assertThat(((Outcome.Failed<?>) inside).detail()).contains("of this call");
        RegisteredBuffer present =
                engine.register(all.asSlice(1000, 100), BufferOptions.DEFAULT).orThrow();
        assertThat(
                        code(
                                engine.register(
                                        List.of(all.asSlice(0, 100), all.asSlice(1099, 1)),
                                        BufferOptions.DEFAULT)))
                .isEqualTo(TransferCode.ERR_ADDRESS_OVERLAPPED);
        assertThat(code(engine.register(all.asSlice(1010, 10), BufferOptions.DEFAULT)))
                .as("part of one")
                .isEqualTo(TransferCode.ERR_ADDRESS_OVERLAPPED);
        assertThat(
                        code(
                                engine.register(
                                        List.of(all.asSlice(0, 100), all.asSlice(200, 0)),
                                        BufferOptions.DEFAULT)))
                .isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
        assertThat(code(engine.register(List.of(), BufferOptions.DEFAULT)))
                .isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
        assertThat(peer.remoteBuffers(handle).orThrow())
                .containsExactly(new RemoteBuffer(present.address(), 100));
    }

    @Test
    void only_the_start_of_a_buffer_names_it() {
        MemorySegment all = arena.allocate(4096);
        RegisteredBuffer buffer = engine.register(all, BufferOptions.DEFAULT).orThrow();
        assertThat(code(engine.unregister(buffer.address() + 1)))
                .isEqualTo(TransferCode.ERR_ADDRESS_NOT_REGISTERED);
        assertThat(code(engine.unregister(buffer.address() - 1)))
                .isEqualTo(TransferCode.ERR_ADDRESS_NOT_REGISTERED);
        assertThat(read(buffer.address(), 4096)).isEqualTo(TransferCode.OK);
        assertThat(engine.unregister(buffer.address()).isOk()).isTrue();
        assertThat(code(engine.unregister(buffer.address())))
                .isEqualTo(TransferCode.ERR_ADDRESS_NOT_REGISTERED);
        assertThat(code(engine.unregister(buffer)))
                .isEqualTo(TransferCode.ERR_ADDRESS_NOT_REGISTERED);
        RegisteredBuffer again = engine.register(all, BufferOptions.DEFAULT).orThrow();
        assertThat(code(engine.unregister(List.of(buffer, again))))
                .as("the first failure does not spare the others")
                .isEqualTo(TransferCode.ERR_ADDRESS_NOT_REGISTERED);
        assertThat(again.state()).isEqualTo(RegisteredBuffer.State.CLOSED);
    }

    @Test
    void regions_and_buffers_close_themselves() {
        Region leaked;
        try (Region region = engine.allocate(4096).orThrow()) {
            leaked = region;
            try (RegisteredBuffer buffer =
                    engine.register(region.memory(), BufferOptions.DEFAULT).orThrow()) {
                assertThat(read(buffer.address(), 16)).isEqualTo(TransferCode.OK);
                assertThatThrownBy(region::close)
                        .isInstanceOfSatisfying(
                                CassiaException.class,
                                e -> assertThat(e.code()).isEqualTo(TransferCode.ERR_BATCH_BUSY));
            }
            assertThat(peer.remoteBuffers(handle).orThrow()).isEmpty();
        }
        leaked.close();
        assertThat(leaked.memory().scope().isAlive()).isFalse();
        assertThat(code(engine.free(leaked))).isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
    }

    @Test
    void one_publication_serves_a_whole_batch() throws IOException {
        AtomicInteger publications = new AtomicInteger();
        HttpServer store =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        store.createContext(
                "/metadata",
                exchange -> {
                    boolean put = exchange.getRequestMethod().equals("PUT");
                    if (put && exchange.getRequestURI().getRawQuery().contains("%2Fram%2F")) {
                        publications.incrementAndGet();
                    }
                    exchange.getRequestBody().readAllBytes();
                    exchange.sendResponseHeaders(put ? 200 : 404, -1);
                    exchange.close();
                });
        store.start();
        String uri = "http://127.0.0.1:" + store.getAddress().getPort() + "/metadata";
        try (TransferEngine published = Peers.engine(TransferConfig.of(uri, "127.0.0.1"))) {
            MemorySegment all = arena.allocate(1000);
            List<MemorySegment> many = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                many.add(all.asSlice(i * 10L, 10));
            }
            int before = publications.get();
            List<RegisteredBuffer> buffers =
                    published.register(many, BufferOptions.DEFAULT).orThrow();
            assertThat(publications.get()).isEqualTo(before + 1);
            assertThat(published.unregister(buffers).isOk()).isTrue();
            assertThat(publications.get()).isEqualTo(before + 2);
        } finally {
            store.stop(0);
        }
    }

    @Test
    void memory_is_placed_where_the_host_can_and_named_where_it_is() {
        try (Region here = engine.allocate(1 << 16, "cpu:0").orThrow();
                RegisteredBuffer _ =
                        engine.register(here.memory(), new BufferOptions("cpu:0", true, true))
                                .orThrow()) {
            assertThat(here.lengthBytes()).isEqualTo(1 << 16);
        }
        assertThat(code(engine.allocate(1 << 16, "cpu:4095"))).isEqualTo(TransferCode.ERR_NUMA);
        assertThat(code(engine.allocate(1 << 16, "cuda:0")))
                .isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
        assertThat(code(engine.allocate(1 << 16, "somewhere")))
                .isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
        MemorySegment memory = arena.allocate(64);
        assertThat(code(engine.register(memory, new BufferOptions("cpu:4095", true, true))))
                .isEqualTo(TransferCode.ERR_DEVICE_NOT_FOUND);
        assertThat(code(engine.register(memory, new BufferOptions("npu:77", true, true))))
                .isEqualTo(TransferCode.ERR_DEVICE_NOT_FOUND);
        assertThat(code(engine.register(memory, new BufferOptions("", true, true))))
                .isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
    }

    @Test
    void concurrent_registrations_of_the_same_memory_have_one_winner() throws Exception {
        MemorySegment memory = arena.allocate(4096);
        int threads = 8;
        CountDownLatch start = new CountDownLatch(1);
        List<Outcome<List<RegisteredBuffer>>> outcomes =
                java.util.Collections.synchronizedList(new ArrayList<>());
        CountDownLatch done = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            long offset = i * 100L;
            Thread.ofPlatform()
                    .start(
                            () -> {
                                try {
                                    if (start.await(10, TimeUnit.SECONDS)) {
                                        outcomes.add(
                                                engine.register(
                                                        List.of(memory.asSlice(offset, 3000)),
                                                        BufferOptions.DEFAULT));
                                    }
                                } catch (InterruptedException e) {
                                    Thread.currentThread().interrupt();
                                } finally {
                                    done.countDown();
                                }
                            });
        }
        start.countDown();
        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(outcomes).hasSize(threads).filteredOn(Outcome::isOk).hasSize(1);
        assertThat(outcomes)
                .filteredOn(o -> !o.isOk())
                .extracting(RegistrationTest::code)
                .containsOnly(TransferCode.ERR_ADDRESS_OVERLAPPED);
    }
}
