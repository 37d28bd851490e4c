package io.cassia.transfer;

import io.cassia.transfer.transport.Transport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** A {@link HostPeer} as its parent sees it. Confined to the test's thread. */
final class HostPeerProcess implements AutoCloseable {
    static final Set<Transport> ALL = EnumSet.allOf(Transport.class);

    private final Process process;
    private final BufferedReader answers;
    private final Writer orders;
    private final String name;
    private final int rpcPort;
    private final int dataPort;

    private HostPeerProcess(List<String> command) throws IOException {
        this.process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        this.answers = process.inputReader(StandardCharsets.UTF_8);
        this.orders = process.outputWriter(StandardCharsets.UTF_8);
        String[] told = answer().split(" ", -1);
        this.name = told[0];
        this.rpcPort = Integer.parseInt(told[1]);
        this.dataPort = Integer.parseInt(told[2]);
    }

    static HostPeerProcess start() throws IOException {
        return start(ALL, 0, 0);
    }

    static HostPeerProcess start(Set<Transport> transports, int rpcPort, int dataPort)
            throws IOException {
        return start(List.of(), transports, rpcPort, dataPort);
    }

    /**
     * Starts one.
     *
     * @param before a program, with arguments, that starts the rest of its command
     */
    static HostPeerProcess start(
            List<String> before, Set<Transport> transports, int rpcPort, int dataPort)
            throws IOException {
        List<String> command = new ArrayList<>(before);
        command.addAll(
                List.of(
                        ProcessHandle.current().info().command().orElse("java"),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx256m",
                        "-Djava.util.logging.config.file=/dev/null",
                        "-cp",
                        System.getProperty("java.class.path"),
                        HostPeer.class.getName(),
                        transports.stream().map(Enum::name).collect(Collectors.joining(",")),
                        Integer.toString(rpcPort),
                        Integer.toString(dataPort)));
        return new HostPeerProcess(command);
    }

    private String answer() throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new IOException("process " + process.pid() + " has ended");
        }
        return line;
    }

    /** Gives an order; the answer. */
    String tell(Object... words) {
        try {
            List<String> texts = new ArrayList<>();
            for (Object word : words) {
                texts.add(word instanceof Long l ? Long.toUnsignedString(l) : word.toString());
            }
            orders.write(String.join(" ", texts) + "\n");
            orders.flush();
            return answer();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Gives an order that is answered with a number. */
    long ask(Object... words) {
        return Long.parseUnsignedLong(tell(words));
    }

    String name() {
        return name;
    }

    int rpcPort() {
        return rpcPort;
    }

    int dataPort() {
        return dataPort;
    }

    long pid() {
        return process.pid();
    }

    /** Sends a signal: STOP, CONT. */
    void signal(String signal) throws IOException, InterruptedException {
        int result =
                new ProcessBuilder("kill", "-" + signal, Long.toString(pid())).start().waitFor();
        if (result != 0) {
            throw new IOException("kill -" + signal + ": " + result);
        }
    }

    /** Kills it where it stands. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        int _ = process.waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            // What runs under another program ends with its input.
            orders.close();
        } catch (IOException e) {
            // It has ended, and with it the pipe.
        }
    }
}
