package io.cassia.app.bench;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.Opcode;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * How much one loopback connection carries in one direction: {@code iperf3 -P1} where it is
 * installed, two plain socket loops elsewhere. Confined to its thread.
 */
public final class OneStream {
    private static final Pattern RECEIVED =
            Pattern.compile(
                    "\"sum_received\"\\s*:\\s*\\{[^}]*\"bits_per_second\"\\s*:\\s*([0-9.e+]+)");
    private static final long PLAIN_BLOCK = 16L << 20;
    private static final Duration START = Duration.ofMillis(300);

    private final Optional<Path> iperf;
    private final Clock clock;

    public OneStream(Clock clock) {
        this.clock = clock;
        this.iperf = find();
    }

    private static Optional<Path> find() {
        String path = System.getenv().getOrDefault("PATH", "");
        return Stream.of(path.split(File.pathSeparator, -1))
                .map(directory -> Path.of(directory, "iperf3"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** What is measured, for people. */
    public String name() {
        return iperf.isPresent() ? "iperf3 -P1" : "plain socket";
    }

    /** Bytes per second. ERR_SOCKET when it cannot be measured. */
    public Outcome<Double> rate(Duration duration) {
        try {
            return iperf.isPresent() ? byIperf(iperf.get(), duration) : Outcome.ok(plain(duration));
        } catch (IOException e) {
            return Outcome.failed(TransferCode.ERR_SOCKET, name() + ": " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Outcome.failed(TransferCode.ERR_CLOCK, "interrupted while measuring");
        }
    }

    private double plain(Duration duration) throws IOException {
        try (References references = new References(clock)) {
            return references.socketRate(
                    new BenchPlan.Cell(Opcode.WRITE, PLAIN_BLOCK, 1), duration);
        }
    }

    private static Outcome<Double> byIperf(Path program, Duration duration)
            throws IOException, InterruptedException {
        String port = Integer.toString(freePort());
        String host = InetAddress.getLoopbackAddress().getHostAddress();
        Process server = start(List.of(program.toString(), "-s", "-1", "-B", host, "-p", port));
        try {
            awaitListening(server);
            String seconds = Long.toString(Math.max(1, duration.toSeconds()));
            Process client =
                    start(
                            List.of(
                                    program.toString(),
                                    "-c",
                                    host,
                                    "-p",
                                    port,
                                    "-P1",
                                    "-t",
                                    seconds,
                                    "-J"));
            String said =
                    new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int exit = client.waitFor();
            Matcher received = RECEIVED.matcher(said);
            return exit == 0 && received.find()
                    ? Outcome.ok(Double.parseDouble(received.group(1)) / Byte.SIZE)
                    : Outcome.failed(
                            TransferCode.ERR_SOCKET,
                            "iperf3 ended with %d: %s".formatted(exit, said));
        } finally {
            server.destroy();
        }
    }

    private static Process start(List<String> command) throws IOException {
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    /** It says so in its second line of output; a pipe may hold that back, so a moment will do. */
    private static void awaitListening(Process server) throws InterruptedException, IOException {
        if (server.waitFor(START.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IOException("the iperf3 server ended with " + server.exitValue());
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        }
    }
}
