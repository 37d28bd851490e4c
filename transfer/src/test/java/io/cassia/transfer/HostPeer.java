package io.cassia.transfer;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * An engine in a process of its own: obeys lines on its standard input, answers each with one line,
 * and ends with them. Confined to the main thread, but for loops of transfers.
 *
 * <p>Arguments: transports, handshake port, data port, host.
 */
final class HostPeer {
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final Arena arena = Arena.ofShared();
    private final TransferEngine engine;
    private final Map<Long, RegisteredBuffer> buffers = new HashMap<>();
    private final AtomicLong completed = new AtomicLong();
    private final Set<String> wrong = ConcurrentHashMap.newKeySet();
    private final Map<String, Long> failures = new ConcurrentHashMap<>();

    private HostPeer(String[] args) {
        Set<Transport> transports =
                Arrays.stream(args[0].split(",", -1))
                        .map(Transport::valueOf)
                        .collect(Collectors.toCollection(() -> EnumSet.noneOf(Transport.class)));
        this.engine =
                TransferEngine.start(
                                TransferConfig.p2p("127.0.0.1")
                                        .withTransports(transports)
                                        .withPorts(
                                                Integer.parseInt(args[1]),
                                                Integer.parseInt(args[2])),
                                Clock.system(),
                                meters)
                        .orThrow();
    }

    public static void main(String[] args) throws IOException {
        HostPeer peer = new HostPeer(args);
        System.out.println(
                String.join(
                        " ",
                        peer.engine.localName(),
                        Integer.toString(peer.engine.rpcPort()),
                        Integer.toString(peer.engine.dataPort())));
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line = lines.readLine();
        while (line != null) {
            System.out.println(peer.obey(List.of(line.split(" ", -1))));
            line = lines.readLine();
        }
        // A loop may be running; this end is orderly for those who asked for it, by "close".
        Runtime.getRuntime().halt(0);
    }

    private String obey(List<String> words) {
        try {
            return switch (words.getFirst()) {
                case "region" ->
                        register(
                                engine.allocate(number(words, 1)).orThrow().memory(),
                                number(words, 2),
                                words.size() > 3 ? BufferOptions.READ_ONLY : BufferOptions.DEFAULT);
                case "foreign" ->
                        register(
                                arena.allocate(number(words, 1)),
                                number(words, 2),
                                BufferOptions.DEFAULT);
                case "lend" -> lend(Path.of(words.get(1)), number(words, 2), number(words, 3));
                case "pieces" -> pieces(number(words, 1), number(words, 2));
                case "unregister" -> unregister(number(words, 1));
                case "crc" -> crc(number(words, 1), number(words, 2), number(words, 3));
                case "move" -> move(words);
                case "loop" -> loop(words);
                case "press" -> press(words);
                case "loops" -> completed.get() + " " + failures + " " + wrong;
                case "routes" -> routes();
                case "report" -> engine.routes().toString();
                case "close" -> {
                    engine.close();
                    arena.close();
                    yield "closed";
                }
                default -> throw new IllegalArgumentException(words.toString());
            };
        } catch (RuntimeException e) {
            return e.toString();
        }
    }

    private static long number(List<String> words, int index) {
        return Long.parseUnsignedLong(words.get(index));
    }

    private String register(MemorySegment memory, long seed, BufferOptions options) {
        Peers.fill(memory, seed);
        RegisteredBuffer buffer = engine.register(memory, options).orThrow();
        buffers.put(buffer.address(), buffer);
        return Long.toUnsignedString(buffer.address());
    }

    /** lend path offset bytes */
    private String lend(Path file, long offset, long bytes) {
        Region region = engine.map(file, offset, bytes).orThrow();
        RegisteredBuffer buffer = engine.register(region.memory(), BufferOptions.DEFAULT).orThrow();
        buffers.put(buffer.address(), buffer);
        return Long.toUnsignedString(buffer.address());
    }

    /** Many small buffers in one region, with gaps. */
    private String pieces(long count, long bytes) {
        MemorySegment memory = engine.allocate(2 * count * bytes).orThrow().memory();
        Peers.fill(memory, 1);
        for (long i = 0; i < count; i++) {
            RegisteredBuffer buffer =
                    engine.register(memory.asSlice(2 * i * bytes, bytes), BufferOptions.DEFAULT)
                            .orThrow();
            buffers.put(buffer.address(), buffer);
        }
        return Long.toUnsignedString(memory.address());
    }

    private String unregister(long address) {
        return engine.unregister(require(address)).toString();
    }

    private RegisteredBuffer require(long address) {
        RegisteredBuffer found = buffers.get(address);
        if (found == null) {
            throw new IllegalArgumentException("no buffer at " + address);
        }
        return found;
    }

    private String crc(long buffer, long offset, long length) {
        return Long.toString(Peers.crc(require(buffer).memory().asSlice(offset, length)));
    }

    /** move READ|WRITE name address bytes seed */
    private String move(List<String> words) {
        SegmentHandle handle = engine.openSegment(words.get(2)).orThrow();
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment local = scratch.allocate(number(words, 4));
            Peers.fill(local, number(words, 5));
            Outcome<Done> outcome =
                    engine.transfer(
                                    List.of(
                                            new TransferRequest(
                                                    Opcode.valueOf(words.get(1)),
                                                    local,
                                                    handle,
                                                    number(words, 3))),
                                    Peers.DEADLINE)
                            .getFirst();
            return outcome instanceof Outcome.Failed<Done>(var code, String detail)
                    ? code.name() + " " + detail
                    : "ok " + Peers.crc(local);
        }
    }

    /** loop name address bytes largest: reads and writes nothing but fives, until the end. */
    private String loop(List<String> words) {
        SegmentHandle handle = engine.openSegment(words.get(1)).orThrow();
        long address = number(words, 2);
        long bytes = number(words, 3);
        int largest = (int) number(words, 4);
        Random random = new Random(address);
        MemorySegment local = arena.allocate(largest);
        return forever(
                () -> {
                    int length = 1 + random.nextInt(largest);
                    long at = address + random.nextLong(bytes - length + 1);
                    MemorySegment part = local.asSlice(0, length);
                    boolean write = random.nextInt(4) == 0;
                    part.fill((byte) (write ? 5 : 0));
                    if (once(handle, at, part, write)) {
                        check(part);
                    }
                });
    }

    /** press name address bytes: reads all of it again and again, and does nothing else. */
    private String press(List<String> words) {
        SegmentHandle handle = engine.openSegment(words.get(1)).orThrow();
        MemorySegment local = arena.allocate(number(words, 3));
        return forever(
                () -> {
                    boolean _ = once(handle, number(words, 2), local, false);
                });
    }

    private static String forever(Runnable action) {
        Thread.ofPlatform()
                .daemon()
                .start(
                        () -> {
                            while (true) {
                                action.run();
                            }
                        });
        return "running";
    }

    private boolean once(SegmentHandle handle, long address, MemorySegment local, boolean write) {
        Outcome<Done> outcome =
                engine.transfer(
                                List.of(
                                        new TransferRequest(
                                                write ? Opcode.WRITE : Opcode.READ,
                                                local,
                                                handle,
                                                address)),
                                Duration.ofSeconds(30))
                        .getFirst();
        if (outcome instanceof Outcome.Failed<Done>(var code, String detail)) {
            // The cause without the numbers that differ from one to the next.
            String cause = detail.substring(detail.lastIndexOf(": ") + 2);
            failures.merge(code.name() + "/" + cause, 1L, Long::sum);
            return false;
        }
        completed.incrementAndGet();
        return true;
    }

    private void check(MemorySegment local) {
        for (long at = 0; at < local.byteSize(); at++) {
            if (local.get(ValueLayout.JAVA_BYTE, at) != 5) {
                wrong.add("read " + local.get(ValueLayout.JAVA_BYTE, at));
                return;
            }
        }
    }

    /** Requests by transport and reason. */
    private String routes() {
        return routes(meters).toString();
    }

    static Map<String, Long> routes(SimpleMeterRegistry meters) {
        Map<String, Long> routes = new TreeMap<>();
        for (Counter counter : meters.find("cassia.transfer.route").counters()) {
            routes.merge(
                    counter.getId().getTag("transport") + "/" + counter.getId().getTag("reason"),
                    (long) counter.count(),
                    Long::sum);
        }
        return routes;
    }
}
