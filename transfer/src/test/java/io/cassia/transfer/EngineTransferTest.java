package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two engines of this kind with each other, through sockets. */
final class EngineTransferTest {
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
        try (TransferEngine target = Peers.engine(Peers.overTcp());
                TransferEngine initiator = Peers.engine(Peers.overTcp());
                Arena arena = Arena.ofConfined()) {
            Region region = target.allocate(length + 128).orThrow();
            assertThat(target.register(region.memory(), BufferOptions.DEFAULT).isOk()).isTrue();
            SegmentHandle handle = initiator.openSegment(target.localName()).orThrow();
            MemorySegment out = arena.allocate(length);
            MemorySegment back = arena.allocate(length);
            Peers.fill(out, length);
            long address = region.memory().address() + 64;
            assertThat(
                            initiator.transfer(
                                    List.of(
                                            new TransferRequest(
                                                    Opcode.WRITE, out, handle, address)),
                                    Peers.DEADLINE))
                    .containsExactly(Outcome.done());
            assertThat(Peers.crc(region.memory().asSlice(64, length))).isEqualTo(Peers.crc(out));
            List<Outcome<Done>> read =
                    initiator.transfer(
                            List.of(new TransferRequest(Opcode.READ, back, handle, address)),
                            Peers.DEADLINE);
            assertThat(read).containsExactly(Outcome.done());
            assertThat(Peers.crc(back)).isEqualTo(Peers.crc(out));
        }
    }

    @Test
    void mixed_pipelined_requests_all_arrive() {
        try (TransferEngine target = Peers.engine(Peers.overTcp());
                TransferEngine initiator = Peers.engine(Peers.overTcp());
                Arena arena = Arena.ofConfined()) {
            Region region = target.allocate(64 << 20).orThrow();
            assertThat(target.register(region.memory(), BufferOptions.DEFAULT).isOk()).isTrue();
            SegmentHandle handle = initiator.openSegment(target.localName()).orThrow();
            Random random = new Random(7);
            for (int round = 0; round < 20; round++) {
                List<TransferRequest> requests = new ArrayList<>();
                long at = region.memory().address();
                for (int i = 0; i < 200; i++) {
                    int length = 1 + random.nextInt(1 << random.nextInt(19));
                    MemorySegment local = arena.allocate(length);
                    Peers.fill(local, i);
                    requests.add(
                            new TransferRequest(
                                    random.nextBoolean() ? Opcode.WRITE : Opcode.READ,
                                    local,
                                    handle,
                                    at));
                    at += length;
                }
                assertThat(initiator.transfer(requests, Peers.DEADLINE))
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
