package io.cassia.lab.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.Region;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.TransferRequest;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Requests of every length that has ever been a limit somewhere, between two processes, at odd
 * addresses, in both directions; checksums are computed on both sides.
 */
class LengthsTest {
    private static final long GIBIBYTE = 1L << 30;
    private static final Duration DEADLINE = Duration.ofMinutes(5);
    private static final int LOCAL_OFFSET = 3;
    private static final int REMOTE_OFFSET = 13;

    /** Bytes before and behind a range that must stay as they are. */
    private static final int MARGIN = 16;

    @Test
    void lengths_around_the_limits_of_small_buffers_arrive() throws Exception {
        long[] lengths = {
            0, 1, 511, 512, 513, 4095, 4096, 4097, 65_535, 65_536, 65_537, (1 << 20) + 1
        };
        long region = (2L << 20) + 2 * MARGIN;
        for (Transport transport : List.of(Transport.TCP, Transport.UDS, Transport.SHM)) {
            try (EngineProcess peer = EngineProcess.start(region, 0, 0);
                    TransferEngine engine = engine(transport);
                    Region local = engine.allocate(region).orThrow()) {
                for (long length : lengths) {
                    arrives(engine, peer, local.memory(), length);
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "TCP, -1, 2",
        "TCP, 0, 2",
        "TCP, 1, 2",
        "TCP, 1, 4",
        "SHM, -1, 2",
        "SHM, 0, 2",
        "SHM, 1, 2",
        "SHM, 1, 4"
    })
    @Tag("deep")
    void lengths_around_the_limits_of_integers_arrive(Transport transport, int more, int gibibytes)
            throws Exception {
        long length = gibibytes * GIBIBYTE + more;
        long region = length + 2 * MARGIN;
        long wanted = 2 * region + GIBIBYTE;
        assumeTrue(
                usableBytes() > wanted,
                "needs %d MiB of memory for %d bytes".formatted(wanted >> 20, length));
        try (EngineProcess peer = EngineProcess.start(region, 0, 0);
                TransferEngine engine = engine(transport);
                Region local = engine.allocate(region).orThrow()) {
            arrives(engine, peer, local.memory(), length);
        }
    }

    /**
     * Requests take the transport; TCP, the one that cuts large ones into stripes, by two lanes.
     */
    private static TransferEngine engine(Transport transport) {
        return TransferEngine.start(
                        TransferConfig.p2p("127.0.0.1")
                                .withStripes(transport == Transport.TCP ? 2 : 1)
                                .withTransports(Set.of(transport)),
                        Clock.system(),
                        new SimpleMeterRegistry())
                .orThrow();
    }

    private static long usableBytes() throws IOException {
        Matcher available =
                Pattern.compile("MemAvailable:\\s+(\\d+) kB")
                        .matcher(Files.readString(Path.of("/proc/meminfo")));
        long memory = available.find() ? Long.parseLong(available.group(1)) << 10 : 0;
        return Math.min(memory, Files.getFileStore(Path.of("/dev/shm")).getUsableSpace());
    }

    private static void arrives(
            TransferEngine engine, EngineProcess peer, MemorySegment local, long length)
            throws Exception {
        SegmentHandle target = engine.openSegment(peer.segment()).orThrow();
        MemorySegment range = local.asSlice(LOCAL_OFFSET, length);
        long remote = peer.address() + REMOTE_OFFSET;
        fill(local, length);
        long sent = EnginePeer.crc(range);
        long headBefore = peer.crc(0, REMOTE_OFFSET);
        long tailBefore = peer.crc(REMOTE_OFFSET + length, MARGIN);
        move(engine, Opcode.WRITE, range, target, remote);
        assertThat(peer.crc(REMOTE_OFFSET, length)).as("WRITE of %d", length).isEqualTo(sent);
        assertThat(peer.crc(0, REMOTE_OFFSET)).as("before %d", length).isEqualTo(headBefore);
        assertThat(peer.crc(REMOTE_OFFSET + length, MARGIN))
                .as("behind %d", length)
                .isEqualTo(tailBefore);
        local.fill((byte) 0x77);
        move(engine, Opcode.READ, range, target, remote);
        assertThat(EnginePeer.crc(range)).as("READ of %d", length).isEqualTo(sent);
        for (long i = 0; i < LOCAL_OFFSET; i++) {
            assertThat(local.get(ValueLayout.JAVA_BYTE, i)).isEqualTo((byte) 0x77);
        }
        for (long i = 0; i < MARGIN; i++) {
            assertThat(local.get(ValueLayout.JAVA_BYTE, LOCAL_OFFSET + length + i))
                    .isEqualTo((byte) 0x77);
        }
    }

    private static void fill(MemorySegment memory, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        long longs = memory.byteSize() / Long.BYTES;
        for (long i = 0; i < longs; i++) {
            memory.setAtIndex(ValueLayout.JAVA_LONG, i, random.nextLong());
        }
    }

    private static void move(
            TransferEngine engine,
            Opcode opcode,
            MemorySegment local,
            SegmentHandle target,
            long address) {
        Outcome<Done> outcome =
                engine.transfer(
                                List.of(new TransferRequest(opcode, local, target, address)),
                                DEADLINE)
                        .getFirst();
        assertThat(outcome).isEqualTo(Outcome.done());
    }
}
