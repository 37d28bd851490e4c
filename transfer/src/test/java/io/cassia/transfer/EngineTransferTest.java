package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class EngineTransferTest {
    private static final Duration DEADLINE = Duration.ofSeconds(10);

    private static TransferEngine engine(TransferConfig config) {
        return TransferEngine.start(config, Clock.system(), new SimpleMeterRegistry()).orThrow();
    }

    private static TransferConfig overTcp() {
        return TransferConfig.p2p("127.0.0.1").withTransports(Set.of(Transport.TCP));
    }

    private static void fill(MemorySegment memory, long seed) {
        byte[] bytes = new byte[(int) memory.byteSize()];
        new Random(seed).nextBytes(bytes);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 0, bytes.length);
    }

    private static long crc(MemorySegment memory) {
        CRC32C crc = new CRC32C();
        crc.update(memory.asByteBuffer());
        return crc.getValue();
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                1,
                511,
                512,
                513,
                4095,
                4096,
                4097,
                65535,
                65536,
                65537,
                (1 << 20) + 1,
                9_000_001
            })
    void bytes_of_any_length_arrive_in_both_directions(int length) {
        try (TransferEngine target = engine(overTcp());
                TransferEngine initiator = engine(overTcp());
                Arena arena = Arena.ofConfined()) {
            Region region = target.allocate(length + 128).orThrow();
            assertThat(target.register(region.memory(), BufferOptions.DEFAULT).isOk()).isTrue();
            SegmentHandle handle = initiator.openSegment(target.localName()).orThrow();
            MemorySegment out = arena.allocate(length);
            MemorySegment back = arena.allocate(length);
            fill(out, length);
            long address = region.memory().address() + 64;
            assertThat(
                            initiator.transfer(
                                    List.of(
                                            new TransferRequest(
                                                    Opcode.WRITE, out, handle, address)),
                                    DEADLINE))
                    .containsExactly(Outcome.done());
            assertThat(crc(region.memory().asSlice(64, length))).isEqualTo(crc(out));
            List<Outcome<Done>> read =
                    initiator.transfer(
                            List.of(new TransferRequest(Opcode.READ, back, handle, address)),
                            DEADLINE);
            assertThat(read).containsExactly(Outcome.done());
            assertThat(crc(back)).isEqualTo(crc(out));
        }
    }

    @Test
    void mixed_pipelined_requests_all_arrive() {
        try (TransferEngine target = engine(overTcp());
                TransferEngine initiator = engine(overTcp());
                Arena arena = Arena.ofConfined()) {
            Region region = target.allocate(64 << 20).orThrow();
            assertThat(target.register(region.memory(), BufferOptions.DEFAULT).isOk()).isTrue();
            SegmentHandle handle = initiator.openSegment(target.localName()).orThrow();
            Random random = new Random(7);
            for (int round = 0; round < 20; round++) {
                java.util.ArrayList<TransferRequest> requests = new java.util.ArrayList<>();
                long at = region.memory().address();
                for (int i = 0; i < 200; i++) {
                    int length = 1 + random.nextInt(1 << random.nextInt(19));
                    MemorySegment local = arena.allocate(length);
                    fill(local, i);
                    requests.add(
                            new TransferRequest(
                                    random.nextBoolean() ? Opcode.WRITE : Opcode.READ,
                                    local,
                                    handle,
                                    at));
                    at += length;
                }
                assertThat(initiator.transfer(requests, DEADLINE))
                        .allMatch(Outcome::isOk)
                        .hasSize(200);
                for (TransferRequest request : requests) {
                    long offset = request.targetAddress() - region.memory().address();
                    assertThat(
                                    request.local()
                                            .mismatch(
                                                    region.memory()
                                                            .asSlice(
                                                                    offset, request.lengthBytes())))
                            .isEqualTo(-1);
                }
            }
        }
    }
}
