package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.testkit.KeyFiles;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A lent file of another program, over every way to it, whole and cut off. */
final class LentFileTransfersTest {
    private static final int LENGTH = 8 << 20;
    private static final int KEPT = 3 << 20;

    @TempDir Path keys;
    private final Arena arena = Arena.ofShared();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private Path file;
    private byte[] content;

    @BeforeEach
    void create() throws IOException {
        content = new byte[LENGTH];
        new Random(1).nextBytes(content);
        file = Files.createTempFile(Path.of("/dev/shm"), "lent", ".kv");
        Files.write(file, content);
    }

    @AfterEach
    void delete() throws IOException {
        arena.close();
        Files.delete(file);
    }

    private void cut() throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(KEPT);
        }
    }

    private TransferEngine engine(TransferConfig config) {
        return TransferEngine.start(config, Clock.system(), meters).orThrow();
    }

    private Outcome<Done> move(
            Opcode opcode, TransferEngine engine, String owner, MemorySegment local, long at) {
        SegmentHandle handle = engine.openSegment(owner).orThrow();
        return engine.transfer(
                        List.of(new TransferRequest(opcode, local, handle, at)), Peers.DEADLINE)
                .getFirst();
    }

    private static void assertLost(Outcome<Done> outcome) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed ->
                                assertThat(failed.code())
                                        .as(failed.detail())
                                        .isIn(
                                                TransferCode.ERR_ADDRESS_NOT_REGISTERED,
                                                TransferCode.ERR_SOCKET));
    }

    /** Whole, overwritten by its owner, cut off: small and large transfers, from one client. */
    private void use(TransferEngine client, String owner, long address) throws IOException {
        MemorySegment all = arena.allocate(LENGTH);
        assertThat(move(Opcode.READ, client, owner, all, address)).isEqualTo(Outcome.done());
        assertThat(all.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(content);

        MemorySegment small = arena.allocate(1000);
        small.fill((byte) 7);
        MemorySegment large = arena.allocate(1 << 20);
        large.fill((byte) 9);
        assertThat(move(Opcode.WRITE, client, owner, small, address + 100))
                .isEqualTo(Outcome.done());
        assertThat(move(Opcode.WRITE, client, owner, large, address + (5 << 20)))
                .isEqualTo(Outcome.done());
        Arrays.fill(content, 100, 1100, (byte) 7);
        Arrays.fill(content, 5 << 20, 6 << 20, (byte) 9);
        assertThat(Files.readAllBytes(file)).isEqualTo(content);

        cut();
        for (Opcode opcode : Opcode.values()) {
            assertLost(move(opcode, client, owner, small, address + (6 << 20)));
            assertLost(move(opcode, client, owner, large, address + (6 << 20)));
            // The head is there, the rest is not.
            assertLost(move(opcode, client, owner, large, address + KEPT - (512 << 10)));
        }
        assertThat(move(Opcode.READ, client, owner, small, address + 100))
                .isEqualTo(Outcome.done());
        assertThat(Files.size(file)).as("nobody has lengthened it").isEqualTo(KEPT);
    }

    @ParameterizedTest
    @EnumSource(names = {"PROCESS_VM", "UDS", "TCP"})
    void cut_files_of_another_process_fail_transfers_and_no_process(Transport transport)
            throws Exception {
        Set<Transport> ways = EnumSet.of(transport, Transport.TCP);
        // It may map memory of others where it can; this is none of these.
        ways.add(transport == Transport.PROCESS_VM ? Transport.SHM : transport);
        try (HostPeerProcess owner = HostPeerProcess.start();
                TransferEngine client =
                        engine(TransferConfig.p2p("127.0.0.1").withTransports(ways))) {
            long address = owner.ask("lend", file, 0L, (long) LENGTH);
            use(client, owner.name(), address);
            assertThat(HostPeer.routes(meters).toString())
                    .contains(transport.label() + "/")
                    .doesNotContain("shm/");
            assertThat(owner.tell("unregister", address)).startsWith("Ok");
        }
    }

    @Test
    void cut_files_of_the_own_process_fail_transfers_and_not_the_process() throws Exception {
        TransferConfig config = TransferConfig.p2p("127.0.0.1");
        try (TransferEngine owner = engine(config);
                TransferEngine client = engine(config)) {
            Region region = owner.map(file, 0, LENGTH).orThrow();
            assertThat(region.isLent()).isTrue();
            RegisteredBuffer buffer =
                    owner.register(region.memory(), BufferOptions.DEFAULT).orThrow();
            use(client, owner.localName(), buffer.address());
            assertThat(HostPeer.routes(meters)).containsOnlyKeys("local/preferred");
            assertThat(region.isWhole()).isFalse();
            assertThat(owner.free(region))
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed ->
                                    assertThat(failed.code())
                                            .isEqualTo(TransferCode.ERR_BATCH_BUSY));
            assertThat(owner.unregister(buffer).isOk()).isTrue();
            assertThat(owner.free(region).isOk()).isTrue();
            assertThat(region.memory().scope().isAlive()).isFalse();
        }
        assertThat(file).exists();
    }

    @Test
    void cut_files_fail_transfers_over_tls() throws Exception {
        Path key = KeyFiles.make(keys, "member", "ip:127.0.0.1");
        TransferConfig config =
                Peers.overTcp()
                        .withSecurity(
                                Security.mutual(
                                        key, key, KeyFiles.PASSWORD, "the token of this cluster"));
        try (TransferEngine owner = engine(config);
                TransferEngine client = engine(config)) {
            Region region = owner.map(file, 0, LENGTH).orThrow();
            RegisteredBuffer buffer =
                    owner.register(region.memory(), BufferOptions.DEFAULT).orThrow();
            use(client, owner.localName(), buffer.address());
            assertThat(HostPeer.routes(meters)).hasSize(1);
            assertThat(
                            meters.get("cassia.transfer.rejections")
                                    .tag("engine", owner.localName())
                                    .tag("reason", "lost")
                                    .counter()
                                    .count())
                    .isPositive();
        }
    }
}
