package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Lengths that do not fit an int. Takes five gigabytes and some seconds: {@code -Dcassia.slow}. */
@EnabledIfSystemProperty(named = "cassia.slow", matches = ".*")
final class LargeTransferTest {
    private static final long LENGTH = (2L << 30) + 4097;

    @Test
    void more_than_two_gigabytes_arrive_in_both_directions() {
        try (TransferEngine target = Peers.engine(Peers.overTcp());
                TransferEngine initiator = Peers.engine(Peers.overTcp())) {
            Region remote = target.allocate(LENGTH).orThrow();
            Region local = initiator.allocate(LENGTH).orThrow();
            RegisteredBuffer buffer =
                    target.register(remote.memory(), BufferOptions.DEFAULT).orThrow();
            SegmentHandle handle = initiator.openSegment(target.localName()).orThrow();
            for (long at = 0; at < LENGTH; at += 4093) {
                local.memory().set(ValueLayout.JAVA_BYTE, at, (byte) (at >>> 7));
            }
            long sum = Peers.crc(local.memory());
            move(initiator, Opcode.WRITE, local.memory(), handle, buffer.address());
            assertThat(Peers.crc(remote.memory())).isEqualTo(sum);
            local.memory().fill((byte) 0);
            move(initiator, Opcode.READ, local.memory(), handle, buffer.address());
            assertThat(Peers.crc(local.memory())).isEqualTo(sum);
        }
    }

    private static void move(
            TransferEngine engine,
            Opcode opcode,
            MemorySegment local,
            SegmentHandle target,
            long address) {
        assertThat(
                        engine.transfer(
                                List.of(new TransferRequest(opcode, local, target, address)),
                                Duration.ofMinutes(2)))
                .containsExactly(Outcome.done());
    }
}
