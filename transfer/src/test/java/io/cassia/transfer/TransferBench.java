package io.cassia.transfer;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;

/**
 * Load between two processes of one host; prints GB/s and latencies. Confined to the main thread.
 *
 * <p>The second rate is that of the median round: on a machine with other work, the first one shows
 * that work as much as this code. Over sockets it stands beside the figures of the C++ engine with
 * pooled connections on this kind of machine; over memory beside plain copies between two regions
 * of one process, measured in turn with it. The processor time per byte, of both ends together,
 * does not depend on other work.
 *
 * <p>Arguments: seconds per cell (2), {@code --transport shm|pvm|uds|tcp} (tcp), {@code stripes=N},
 * {@code batch} for the background path, {@code depth=N}, {@code block=bytes}. Both processes share
 * the cores.
 */
final class TransferBench {
    private static final Duration DEADLINE = Duration.ofSeconds(30);
    private static final int[] BLOCKS = {4 << 10, 64 << 10, 1 << 20, 4 << 20};
    private static final int[] DEPTHS = {1, 16, 128};
    private static final long REGION_BYTES = 512L << 20;

    /** GB/s of the C++ engine: read and write, by block and depth. */
    private static final Map<Integer, double[][]> PEER =
            Map.of(
                    4 << 10, new double[][] {{.084, .138, .145}, {.082, .131, .136}},
                    64 << 10, new double[][] {{.81, 1.69, 1.44}, {1.16, 1.65, 1.69}},
                    1 << 20, new double[][] {{1.43, 1.84, 1.82}, {2.43, 2.17, 2.20}},
                    4 << 20, new double[][] {{2.26, 1.86, 1.90}, {2.26, 1.92, 2.02}});

    private TransferBench() {}

    private static Transport transport(String argument) {
        return switch (argument) {
            case "shm" -> Transport.SHM;
            case "pvm" -> Transport.PROCESS_VM;
            case "uds" -> Transport.UDS;
            case "tcp" -> Transport.TCP;
            default -> throw new IllegalArgumentException("transport " + argument);
        };
    }

    private static TransferEngine engine(int stripes, Transport transport) {
        return TransferEngine.start(
                        TransferConfig.p2p("127.0.0.1")
                                .withStripes(stripes)
                                .withTransports(Set.of(transport)),
                        Clock.system(),
                        new SimpleMeterRegistry())
                .orThrow();
    }

    public static void main(String[] args) throws IOException {
        if (args.length > 0 && args[0].equals("target")) {
            target(transport(args[1]));
            return;
        }
        List<String> options = List.of(args);
        int named = options.indexOf("--transport");
        String name = named < 0 ? "tcp" : options.get(named + 1);
        Transport transport = transport(name);
        double seconds =
                options.isEmpty() || !Character.isDigit(options.getFirst().charAt(0))
                        ? 2
                        : Double.parseDouble(options.getFirst());
        int stripes = (int) option(options, "stripes=", TransferConfig.AUTO);
        long onlyDepth = option(options, "depth=", 0);
        long onlyBlock = option(options, "block=", 0);
        ProcessBuilder builder =
                new ProcessBuilder(
                        ProcessHandle.current().info().command().orElse("java"),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:+UseSerialGC",
                        "-XX:+UseCompactObjectHeaders",
                        "-Xmx256m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        TransferBench.class.getName(),
                        "target",
                        name);
        Process child = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader lines =
                        new BufferedReader(
                                new InputStreamReader(
                                        child.getInputStream(), StandardCharsets.UTF_8));
                TransferEngine engine = engine(stripes, transport)) {
            String[] told = lines.readLine().split(" ", -1);
            SegmentHandle handle = engine.openSegment(told[0]).orThrow();
            long base = Long.parseUnsignedLong(told[1]);
            Region local = engine.allocate(REGION_BYTES).orThrow();
            local.memory().fill((byte) 7);
            Cell bench = new Cell(engine, handle, base, local.memory(), options.contains("batch"));
            Region other = engine.allocate(REGION_BYTES).orThrow();
            other.memory().fill((byte) 3);
            boolean byMemory = transport.compareTo(Transport.UDS) < 0;
            System.out.printf(
                    "%8s %6s %5s %8s %8s %8s %8s %8s %8s %8s%n",
                    "block",
                    "dir",
                    "depth",
                    "GB/s",
                    "at p50",
                    byMemory ? "copy p50" : "peer",
                    "ratio",
                    "p50 us",
                    "p99 us",
                    "cpu s/GB");
            for (int block : BLOCKS) {
                for (int direction = 0; direction < 2; direction++) {
                    for (int d = 0; d < DEPTHS.length; d++) {
                        if ((onlyDepth != 0 && onlyDepth != DEPTHS[d])
                                || (onlyBlock != 0 && onlyBlock != block)) {
                            continue;
                        }
                        boolean write = direction == 1;
                        double peer = Objects.requireNonNull(PEER.get(block))[direction][d];
                        Result _ = bench.run(block, DEPTHS[d], write, seconds / 2);
                        if (byMemory) {
                            compare(bench, other.memory(), block, DEPTHS[d], write, seconds, child);
                        } else {
                            double cpu = cpuSeconds(child);
                            Result result = bench.run(block, DEPTHS[d], write, seconds);
                            cpu = cpuSeconds(child) - cpu;
                            print(
                                    block,
                                    DEPTHS[d],
                                    write,
                                    result,
                                    peer,
                                    result.gigabytes(),
                                    cpu / (result.bytes() / 1e9));
                        }
                    }
                }
            }
        } finally {
            child.destroy();
        }
    }

    /** In turns, so that other work of the machine meets both. */
    private static void compare(
            Cell bench,
            MemorySegment other,
            int block,
            int depth,
            boolean write,
            double seconds,
            Process child) {
        Result _ = bench.copy(other, block, depth, write, seconds / 4);
        List<Result> ours = new ArrayList<>();
        List<Result> plain = new ArrayList<>();
        double cpu = 0;
        double bytes = 0;
        for (int i = 0; i < 5; i++) {
            cpu -= cpuSeconds(child);
            ours.add(bench.run(block, depth, write, seconds / 5));
            cpu += cpuSeconds(child);
            bytes += ours.getLast().bytes();
            plain.add(bench.copy(other, block, depth, write, seconds / 5));
        }
        Result result = median(ours);
        print(
                block,
                depth,
                write,
                result,
                median(plain).atMedian(block, depth),
                result.atMedian(block, depth),
                cpu / (bytes / 1e9));
    }

    private static Result median(List<Result> results) {
        return results.stream().sorted(Comparator.comparingDouble(Result::p50)).toList().get(2);
    }

    private static void print(
            int block,
            int depth,
            boolean write,
            Result result,
            double reference,
            double rate,
            double cpu) {
        System.out.printf(
                "%8d %6s %5d %8.3f %8.3f %8.3f %8.2f %8.2f %8.2f %8.3f%n",
                block,
                write ? "write" : "read",
                depth,
                result.gigabytes(),
                result.atMedian(block, depth),
                reference,
                rate / reference,
                result.p50(),
                result.p99(),
                cpu);
    }

    /** Both ends together. */
    private static double cpuSeconds(Process child) {
        return (ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO).toNanos()
                        + child.info().totalCpuDuration().orElse(Duration.ZERO).toNanos())
                / 1e9;
    }

    private static long option(List<String> options, String prefix, long otherwise) {
        return options.stream()
                .filter(o -> o.startsWith(prefix))
                .map(o -> Long.parseLong(o.substring(prefix.length())))
                .findFirst()
                .orElse(otherwise);
    }

    private static void target(Transport transport) throws IOException {
        try (TransferEngine engine = engine(TransferConfig.AUTO, transport);
                Arena arena = Arena.ofShared()) {
            // What is in a shared file needs no kernel.
            MemorySegment memory =
                    transport == Transport.PROCESS_VM
                            ? arena.allocate(REGION_BYTES)
                            : engine.allocate(REGION_BYTES).orThrow().memory();
            memory.fill((byte) 3);
            RegisteredBuffer buffer = engine.register(memory, BufferOptions.DEFAULT).orThrow();
            System.out.println(engine.localName() + " " + Long.toUnsignedString(buffer.address()));
            System.out.flush();
            // Ends with its parent.
            int end = System.in.read();
            if (end >= 0) {
                throw new IOException("unexpected input");
            }
            Done _ = engine.unregister(buffer).orThrow();
        }
    }

    private record Result(double gigabytes, double p50, double p99, double bytes) {
        double atMedian(int block, int depth) {
            return (double) block * depth / p50 / 1e3;
        }
    }

    /** One measurement after the other on the same engines. Confined to the main thread. */
    private record Cell(
            TransferEngine engine,
            SegmentHandle handle,
            long base,
            MemorySegment local,
            boolean batch) {
        private interface Round {
            void run(Random random);
        }

        Result run(int block, int depth, boolean write, double seconds) {
            int slots = (int) (REGION_BYTES / block);
            List<TransferRequest> requests = new ArrayList<>(depth);
            return measure(
                    (long) block * depth,
                    seconds,
                    random -> {
                        requests.clear();
                        for (int i = 0; i < depth; i++) {
                            long offset = (long) random.nextInt(slots) * block;
                            long remote = (long) random.nextInt(slots) * block;
                            requests.add(
                                    new TransferRequest(
                                            write ? Opcode.WRITE : Opcode.READ,
                                            local.asSlice(offset, block),
                                            handle,
                                            base + remote));
                        }
                        carry(requests);
                    });
        }

        /** The same bytes between two regions of this process. */
        Result copy(MemorySegment other, int block, int depth, boolean write, double seconds) {
            int slots = (int) (REGION_BYTES / block);
            MemorySegment from = write ? local : other;
            MemorySegment to = write ? other : local;
            return measure(
                    (long) block * depth,
                    seconds,
                    random -> {
                        for (int i = 0; i < depth; i++) {
                            long offset = (long) random.nextInt(slots) * block;
                            long remote = (long) random.nextInt(slots) * block;
                            MemorySegment.copy(from, offset, to, remote, block);
                        }
                    });
        }

        private static Result measure(long roundBytes, double seconds, Round round) {
            Random random = new Random(1);
            double[] micros = new double[1 << 20];
            int rounds = 0;
            long bytes = 0;
            long start = System.nanoTime();
            long now = start;
            while (now - start < seconds * 1e9) {
                round.run(random);
                long end = System.nanoTime();
                micros[rounds++ & (micros.length - 1)] = (end - now) / 1e3;
                bytes += roundBytes;
                now = end;
            }
            double[] sorted = Arrays.copyOf(micros, Math.min(rounds, micros.length));
            Arrays.sort(sorted);
            return new Result(
                    bytes / (double) (now - start),
                    sorted[sorted.length / 2],
                    sorted[(int) (sorted.length * .99)],
                    bytes);
        }

        private void carry(List<TransferRequest> requests) {
            if (!batch) {
                for (Outcome<Done> outcome : engine.transfer(requests, DEADLINE)) {
                    Done _ = outcome.orThrow();
                }
                return;
            }
            Batch submitted = engine.allocateBatch(requests.size()).orThrow();
            Done _ = submitted.submit(requests).orThrow();
            if (!submitted.await(DEADLINE)
                    || submitted.status().state() != TransferState.COMPLETED) {
                throw new IllegalStateException(submitted.status().toString());
            }
        }
    }
}
