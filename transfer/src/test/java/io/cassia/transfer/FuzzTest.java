package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.UnixOperatingSystemMXBean;
import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Bytes that no peer should send, on every port and in both roles: nothing hangs, nothing is left
 * open, no memory changes that is not open to peers, and nobody sees an exception that is no code.
 */
final class FuzzTest {
    private static final Duration SHORT = Duration.ofSeconds(2);
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int BYTES = 64 << 10;
    private static final byte GUARD = 0x3c;
    private static final int ATTACKERS = 3;
    private static final Logger PRODUCT = Logger.getLogger("io.cassia.transfer");

    private final Arena arena = Arena.ofShared();
    private final Set<String> uncaught = ConcurrentHashMap.newKeySet();
    private final AtomicLong attacks = new AtomicLong();
    private final Handler severe =
            new Handler() {
                @Override
                public void publish(LogRecord record) {
                    if (record.getLevel().intValue() >= Level.SEVERE.intValue()) {
                        uncaught.add(record.getMessage() + " " + record.getThrown());
                    }
                }

                @Override
                public void flush() {}

                @Override
                public void close() {}
            };
    private Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();

    @BeforeEach
    void listen() {
        before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler(
                (thread, e) -> uncaught.add(thread.getName() + ": " + e));
        PRODUCT.addHandler(severe);
    }

    @AfterEach
    void close() {
        Thread.setDefaultUncaughtExceptionHandler(before);
        PRODUCT.removeHandler(severe);
        arena.close();
    }

    private static TransferConfig withStall(int millis) {
        return Peers.overTcp()
                .withTimeouts(TransferConfig.Timeouts.DEFAULT.withStall(Duration.ofMillis(millis)));
    }

    private static long openFiles() {
        return ManagementFactory.getPlatformMXBean(UnixOperatingSystemMXBean.class)
                .getOpenFileDescriptorCount();
    }

    private static int threads() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }

    private interface Attack {
        void once(Mutations mutations) throws IOException;
    }

    /** Attacks from several threads; meanwhile a well-behaved peer is served without a failure. */
    private void attack(Duration duration, Attack attack, Runnable meanwhile) throws Exception {
        long end = System.nanoTime() + duration.toNanos();
        List<Thread> attackers = new ArrayList<>();
        for (int i = 0; i < ATTACKERS; i++) {
            long seed = Long.getLong("seed", 1) + i;
            attackers.add(
                    Thread.ofPlatform()
                            .name("attacker-seed-" + seed)
                            .start(() -> attack(new Mutations(seed), attack, end)));
        }
        while (System.nanoTime() - end < 0) {
            meanwhile.run();
        }
        for (Thread attacker : attackers) {
            attacker.join(Duration.ofSeconds(30));
            assertThat(attacker.isAlive()).as("%s hangs", attacker).isFalse();
        }
        assertThat(attacks.get()).as("attacks").isGreaterThan(20);
        assertThat(uncaught).isEmpty();
    }

    private void attack(Mutations mutations, Attack attack, long end) {
        while (System.nanoTime() - end < 0) {
            try {
                attack.once(mutations);
            } catch (IOException e) {
                // The engine has ended the connection, as it should.
            }
            attacks.incrementAndGet();
        }
    }

    /** Sends bytes, ends in one of several ways, and reads what comes. */
    private static void send(int port, byte[] bytes, Random random) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(20);
            int cut = random.nextBoolean() ? bytes.length : random.nextInt(bytes.length + 1);
            socket.getOutputStream().write(bytes, 0, cut);
            socket.getOutputStream().write(bytes, cut, bytes.length - cut);
            switch (random.nextInt(4)) {
                case 0 -> socket.setSoLinger(true, 0);
                case 1 -> socket.shutdownOutput();
                default -> {
                    // Stays open until it is closed.
                }
            }
            byte[] answer = new byte[4096];
            int read = 0;
            for (int i = 0; i < 4 && read >= 0; i++) {
                read = socket.getInputStream().read(answer);
            }
        }
    }

    @Test
    void bytes_of_strangers_harm_nobody() throws Exception {
        strangers(SHORT);
    }

    @Test
    @Tag("deep")
    void bytes_of_strangers_harm_nobody_for_a_minute() throws Exception {
        strangers(LONG);
    }

    private void strangers(Duration duration) throws Exception {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        MemorySegment memory = arena.allocate(4L * BYTES, 4096).fill(GUARD);
        MemorySegment good = arena.allocate(BYTES).fill((byte) 5);
        int threads = threads();
        long files = openFiles();
        try (TransferEngine target =
                        TransferEngine.start(withStall(2000), Clock.system(), meters).orThrow();
                TransferEngine honest = Peers.engine(Peers.overTcp())) {
            RegisteredBuffer open =
                    target.register(memory.asSlice(BYTES, BYTES), BufferOptions.DEFAULT).orThrow();
            RegisteredBuffer readOnly =
                    target.register(memory.asSlice(3L * BYTES, BYTES), BufferOptions.READ_ONLY)
                            .orThrow();
            RegisteredBuffer own =
                    target.register(good, new BufferOptions("*", true, true)).orThrow();
            SegmentHandle handle = honest.openSegment(target.localName()).orThrow();
            List<byte[]> frames = frames();
            List<byte[]> requests = requests(open, readOnly);
            MemorySegment local = arena.allocate(BYTES);
            attack(
                    duration,
                    mutations -> {
                        boolean data = mutations.random().nextInt(3) > 0;
                        send(
                                data ? target.dataPort() : target.rpcPort(),
                                mutations.stream(data ? requests : frames, data ? 6 : 2),
                                mutations.random());
                    },
                    () -> {
                        Outcome<Done> read =
                                honest.transfer(
                                                List.of(
                                                        new TransferRequest(
                                                                Opcode.READ,
                                                                local,
                                                                handle,
                                                                own.address())),
                                                Peers.DEADLINE)
                                        .getFirst();
                        assertThat(read).isEqualTo(Outcome.done());
                        assertThat(honest.probe(handle)).isEqualTo(Outcome.done());
                    });
            assertGuarded(memory.asSlice(0, BYTES), "before the buffer");
            assertGuarded(memory.asSlice(2L * BYTES, 2L * BYTES), "behind it, and read-only");
            Peers.eventually(
                    "connections of strangers are gone",
                    () -> meters.get("cassia.transfer.server.connections").gauge().value() <= 1);
            assertThat(target.unregister(List.of(open, readOnly, own)).isOk()).isTrue();
        }
        Peers.eventually("threads", () -> threads() <= threads + 8);
        Peers.eventually("descriptors", () -> openFiles() <= files + 8);
    }

    private static void assertGuarded(MemorySegment memory, String where) {
        MemorySegment expected = MemorySegment.ofArray(new byte[(int) memory.byteSize()]);
        assertThat(memory.mismatch(expected.fill(GUARD))).as(where).isEqualTo(-1);
    }

    private static List<byte[]> frames() {
        List<byte[]> frames = new ArrayList<>();
        for (byte[] body :
                List.of(
                        "\u0001{}\n".getBytes(StandardCharsets.UTF_8),
                        "\u0002{\"name\":\"j\",\"notify_msg\":\"hello\"}"
                                .getBytes(StandardCharsets.UTF_8),
                        "\u0003{}".getBytes(StandardCharsets.UTF_8),
                        "\u0000{\"qp_num\":[1,2],\"local_nic_path\":\"a@b\"}"
                                .getBytes(StandardCharsets.UTF_8),
                        "{\"qp_num\":[]}".getBytes(StandardCharsets.UTF_8))) {
            byte[] length = new byte[8];
            length[0] = (byte) body.length;
            frames.add(RawClient.concat(length, body));
        }
        frames.add(RawClient.hex("160301020001000000"));
        frames.add("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.UTF_8));
        return frames;
    }

    private static List<byte[]> requests(RegisteredBuffer open, RegisteredBuffer readOnly) {
        List<byte[]> requests = new ArrayList<>();
        for (int opcode : new int[] {0x00, 0x01, 0x80, 0x81}) {
            for (int size : new int[] {1, 24, 4096, BYTES}) {
                byte[] header = RawClient.header(opcode, size, open.address());
                requests.add((opcode & 1) == 0 ? header : RawClient.concat(header, new byte[size]));
            }
            requests.add(RawClient.header(opcode, 64, readOnly.address()));
        }
        return requests;
    }

    @Test
    void answers_of_strange_peers_are_codes() throws Exception {
        strangePeers(SHORT);
    }

    @Test
    @Tag("deep")
    void answers_of_strange_peers_are_codes_for_a_minute() throws Exception {
        strangePeers(LONG);
    }

    private void strangePeers(Duration duration) throws Exception {
        int threads = threads();
        long files = openFiles();
        Map<Object, Long> ends = new ConcurrentHashMap<>();
        try (TransferEngine engine = Peers.engine(withStall(200));
                TransferEngine honest = Peers.engine(Peers.overTcp())) {
            attack(
                    duration,
                    mutations -> {
                        try (PeerStandIn peer = stranger(mutations)) {
                            meet(engine, peer, mutations.random(), ends);
                        }
                    },
                    () -> assertThat(honest.probe(engine.localName())).isEqualTo(Outcome.done()));
        }
        assertThat(ends.keySet()).as("%s", ends).contains("OK").hasSizeGreaterThan(3);
        Peers.eventually("threads", () -> threads() <= threads + 8);
        Peers.eventually("descriptors", () -> openFiles() <= files + 8);
    }

    /** A peer whose descriptor and answers have something wrong now and then. */
    private static PeerStandIn stranger(Mutations mutations) throws IOException {
        long seed = mutations.random().nextLong();
        PeerStandIn peer =
                new PeerStandIn(
                        mutations.random().nextInt(4) == 0 ? 0 : 2,
                        connection -> answer(connection, new Mutations(seed)));
        if (mutations.random().nextInt(3) == 0) {
            // Never another port: nobody else shall be met.
            String text = peer.descriptor("tcp", peer.dataPort(), 2);
            int keep = text.indexOf("\"tcp_data_port\"");
            int end = text.indexOf(',', keep);
            byte[] head = text.substring(0, keep).getBytes(StandardCharsets.ISO_8859_1);
            byte[] tail = text.substring(end).getBytes(StandardCharsets.ISO_8859_1);
            peer.answer(
                    text(mutations.mutated(head))
                            + text.substring(keep, end)
                            + text(mutations.mutated(tail)));
        }
        return peer;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static void answer(PeerStandIn.Connection connection, Mutations mutations)
            throws IOException {
        byte[] ok = RawClient.hex("000000005654434d");
        while (true) {
            PeerStandIn.Request request = connection.request();
            int size = (int) Math.min(request.size(), BYTES);
            if (request.isWrite()) {
                connection.in.skipNBytes(size);
            }
            byte[] body = request.isWrite() ? new byte[0] : new byte[size];
            byte[] whole = request.isAcknowledged() ? RawClient.concat(ok, body) : body;
            boolean wrong = mutations.random().nextInt(3) == 0;
            connection.out.write(wrong ? mutations.mutated(whole) : whole);
            if (mutations.random().nextInt(8) == 0) {
                connection.reset();
            }
        }
    }

    private void meet(
            TransferEngine engine, PeerStandIn peer, Random random, Map<Object, Long> ends) {
        if (!(engine.openSegment(peer.name())
                instanceof Outcome.Ok<SegmentHandle>(SegmentHandle handle))) {
            ends.merge("not opened", 1L, Long::sum);
            return;
        }
        try (Arena own = Arena.ofShared()) {
            MemorySegment memory = own.allocate(3L * 8192).fill(GUARD);
            List<TransferRequest> requests = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                requests.add(
                        new TransferRequest(
                                random.nextBoolean() ? Opcode.READ : Opcode.WRITE,
                                memory.asSlice(i * 8192L + 2048, 4096),
                                handle,
                                PeerStandIn.BASE));
            }
            for (Outcome<Done> outcome : engine.transfer(requests, Duration.ofSeconds(1))) {
                ends.merge(
                        outcome instanceof Outcome.Failed<Done> failed ? failed.code() : "OK",
                        1L,
                        Long::sum);
            }
            for (int i = 0; i < 3; i++) {
                assertGuarded(memory.asSlice(i * 8192L, 2048), "before a request's memory");
                assertGuarded(memory.asSlice(i * 8192L + 6144, 2048), "behind it");
            }
        }
        assertThat(engine.closeSegment(handle).isOk()).isTrue();
    }

    @Test
    void a_scribbled_control_file_harms_no_process() throws Exception {
        scribble(SHORT);
    }

    @Test
    @Tag("deep")
    void a_scribbled_control_file_harms_no_process_for_a_minute() throws Exception {
        scribble(LONG);
    }

    private void scribble(Duration duration) throws Exception {
        Map<Object, Long> ends = new HashMap<>();
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        TransferConfig config =
                Peers.overTcp().withTransports(Set.of(Transport.SHM, Transport.TCP));
        try (HostPeerProcess peer = HostPeerProcess.start();
                TransferEngine engine =
                        TransferEngine.start(config, Clock.system(), meters).orThrow()) {
            long address = peer.ask("region", (long) BYTES, 1);
            SegmentHandle handle = engine.openSegment(peer.name()).orThrow();
            MemorySegment local = arena.allocate(BYTES);
            TransferRequest read = new TransferRequest(Opcode.READ, local, handle, address);
            assertThat(engine.transfer(List.of(read), Peers.DEADLINE)).allMatch(Outcome::isOk);
            assertThat(HostPeer.routes(meters)).containsKey("shm/preferred");
            MemorySegment control = control(peer);
            attack(
                    duration,
                    mutations -> {
                        // The header, a few rows and the first slots: all that is in use.
                        Random random = mutations.random();
                        long at =
                                switch (random.nextInt(4)) {
                                    case 0 -> 16 + 8L * random.nextInt(6);
                                    case 1 -> 4096 + 8L * random.nextInt(256);
                                    default -> 4096 + 256 * 512 + 8L * random.nextInt(32);
                                };
                        long value =
                                random.nextInt(3) == 0
                                        ? random.nextLong()
                                        : random.nextInt(4) == 0 ? address : random.nextInt(8);
                        control.set(java.lang.foreign.ValueLayout.JAVA_LONG, at, value);
                    },
                    () -> {
                        Outcome<Done> outcome =
                                engine.transfer(List.of(read), Duration.ofSeconds(2)).getFirst();
                        ends.merge(
                                outcome instanceof Outcome.Failed<Done> failed
                                        ? failed.code()
                                        : "OK",
                                1L,
                                Long::sum);
                    });
            assertThat(ends).as("what its peers saw").isNotEmpty();
            assertThat(peer.tell("unregister", address)).as("the owner goes on").contains("[");
            assertThat(peer.ask("region", (long) BYTES, 2)).isNotZero();
        }
    }

    /** The control file of a process, as any process of this user can map it. */
    private MemorySegment control(HostPeerProcess peer) throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
            for (Path file : files.toList()) {
                if (Files.size(file) == CONTROL_BYTES && belongsTo(peer, file)) {
                    try (FileChannel channel =
                            FileChannel.open(
                                    file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                        return channel.map(FileChannel.MapMode.READ_WRITE, 0, CONTROL_BYTES, arena);
                    }
                }
            }
        }
        throw new IOException("no control file of process " + peer.pid());
    }

    private static final long CONTROL_BYTES = 4096 + 256L * 512 + 65_536L * 64;

    private static boolean belongsTo(HostPeerProcess peer, Path file) throws IOException {
        return Files.readString(Path.of("/proc/" + peer.pid() + "/maps"))
                .contains(file.getFileName().toString());
    }
}
