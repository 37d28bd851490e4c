package io.cassia.lab.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A program of its own that owns a file in shared memory, as an inference engine does. Confined to
 * its test.
 *
 * <pre>
 *   flip OFFSET    changes a byte
 *   length BYTES   cuts the file off, or makes it longer
 * </pre>
 */
final class FileOwner implements AutoCloseable {
    private final Path file;
    private final Process process;
    private final BufferedReader answers;
    private final Writer orders;

    private FileOwner(Path file, Process process) {
        this.file = file;
        this.process = process;
        this.answers = process.inputReader();
        this.orders = process.outputWriter();
    }

    /** What the owner's process runs: path and length, then orders on its standard input. */
    public static void main(String[] args) throws IOException {
        try (FileChannel channel =
                        FileChannel.open(
                                Path.of(args[0]),
                                StandardOpenOption.CREATE_NEW,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE);
                BufferedReader lines =
                        new BufferedReader(
                                new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            length(channel, Long.parseLong(args[1]));
            System.out.println("done");
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] words = line.split(" ", 2);
                long number = Long.parseLong(words[1]);
                if (words[0].equals("flip")) {
                    flip(channel, number);
                } else {
                    length(channel, number);
                }
                System.out.println("done");
            }
        }
    }

    private static void length(FileChannel channel, long bytes) throws IOException {
        if (channel.size() > bytes) {
            channel.truncate(bytes);
        } else if (channel.size() < bytes) {
            write(channel, (byte) 0, bytes - 1);
        }
    }

    private static void flip(FileChannel channel, long at) throws IOException {
        ByteBuffer one = ByteBuffer.allocate(1);
        if (channel.read(one, at) != 1) {
            throw new IOException("no byte at " + at);
        }
        write(channel, (byte) (one.get(0) ^ 1), at);
    }

    private static void write(FileChannel channel, byte value, long at) throws IOException {
        if (channel.write(ByteBuffer.wrap(new byte[] {value}), at) != 1) {
            throw new IOException("no room at " + at);
        }
    }

    /** Starts a process that creates the file. */
    static FileOwner start(Path file, long bytes) throws IOException {
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                FileOwner.class.getName(),
                                file.toString(),
                                Long.toString(bytes))
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        FileOwner owner = new FileOwner(file, process);
        try {
            owner.answer();
            return owner;
        } catch (IOException e) {
            owner.close();
            throw e;
        }
    }

    private void answer() throws IOException {
        String line = answers.readLine();
        if (!"done".equals(line)) {
            throw new IOException("the owner of " + file + " answered " + line);
        }
    }

    private void tell(String order) throws IOException {
        orders.write(order + "\n");
        orders.flush();
        answer();
    }

    void flip(long offset) throws IOException {
        tell("flip " + offset);
    }

    void length(long bytes) throws IOException {
        tell("length " + bytes);
    }

    Path file() {
        return file;
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        Files.deleteIfExists(file);
    }
}
