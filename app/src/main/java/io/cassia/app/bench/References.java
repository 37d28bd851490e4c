package io.cassia.app.bench;

import io.cassia.base.Clock;
import io.cassia.transfer.Opcode;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.SplittableRandom;

/**
 * What the machine can do without an engine, measured in the same run: memory copies by one thread,
 * and one loopback connection with a thread at either end. Confined to its thread.
 */
public final class References implements AutoCloseable {
    private static final long MEMORY_BYTES = 256L << 20;
    private static final int PIECE_BYTES = 1 << 20;

    private final Clock clock;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment from;
    private final MemorySegment to;

    public References(Clock clock) {
        this.clock = clock;
        this.from = arena.allocate(MEMORY_BYTES).fill((byte) 1);
        this.to = arena.allocate(MEMORY_BYTES).fill((byte) 2);
    }

    /** Bytes per second of copies of blocks at random places. */
    public double copyRate(long blockBytes, Duration duration) {
        return copyRate(clock, from, to, blockBytes, duration);
    }

    /** The same between memory of the caller's; what is written is rarely in a cache. */
    static double copyRate(
            Clock clock, MemorySegment from, MemorySegment to, long blockBytes, Duration duration) {
        long block = Math.min(blockBytes, from.byteSize());
        long slots = from.byteSize() / block;
        SplittableRandom random = new SplittableRandom(1);
        long bytes = 0;
        long start = clock.nanos();
        long now = start;
        while (now - start < duration.toNanos()) {
            // Asking for the time costs as much as copying a small block.
            for (long copied = 0; copied < PIECE_BYTES; copied += block) {
                MemorySegment.copy(
                        from,
                        random.nextLong(slots) * block,
                        to,
                        random.nextLong(slots) * block,
                        block);
                bytes += block;
            }
            now = clock.nanos();
        }
        return bytes * 1e9 / (now - start);
    }

    /**
     * Bytes per second over one connection: for READ, a call asks for a batch with 8 bytes and gets
     * its blocks; for WRITE, it sends them and gets a byte when they are there.
     */
    public double socketRate(BenchPlan.Cell cell, Duration duration) throws IOException {
        long callBytes = cell.blockBytes() * cell.batchSize();
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocketChannel listener =
                ServerSocketChannel.open().bind(new InetSocketAddress(loopback, 0))) {
            Thread server =
                    Thread.ofPlatform()
                            .daemon()
                            .name("cassia-bench-socket")
                            .start(() -> serve(listener, cell.operation(), callBytes));
            double rate;
            try (SocketChannel client = SocketChannel.open(listener.getLocalAddress())) {
                client.setOption(StandardSocketOptions.TCP_NODELAY, true);
                rate = call(client, cell.operation(), callBytes, duration);
            }
            join(server);
            return rate;
        }
    }

    private static void join(Thread server) {
        try {
            server.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private double call(SocketChannel client, Opcode operation, long callBytes, Duration duration)
            throws IOException {
        ByteBuffer request = ByteBuffer.allocateDirect(8);
        ByteBuffer done = ByteBuffer.allocateDirect(1);
        ByteBuffer piece = to.asSlice(0, PIECE_BYTES).asByteBuffer();
        long bytes = 0;
        long start = clock.nanos();
        long now = start;
        while (now - start < duration.toNanos()) {
            if (operation == Opcode.READ) {
                write(client, request.clear(), 8);
                read(client, piece, callBytes);
            } else {
                write(client, piece, callBytes);
                read(client, done, 1);
            }
            bytes += callBytes;
            now = clock.nanos();
        }
        return bytes * 1e9 / (now - start);
    }

    private void serve(ServerSocketChannel listener, Opcode operation, long callBytes) {
        ByteBuffer request = ByteBuffer.allocateDirect(8);
        ByteBuffer done = ByteBuffer.allocateDirect(1);
        ByteBuffer piece = from.asSlice(0, PIECE_BYTES).asByteBuffer();
        try (SocketChannel peer = listener.accept()) {
            peer.setOption(StandardSocketOptions.TCP_NODELAY, true);
            while (true) {
                if (operation == Opcode.READ) {
                    read(peer, request, 8);
                    write(peer, piece, callBytes);
                } else {
                    read(peer, piece, callBytes);
                    write(peer, done.clear(), 1);
                }
            }
        } catch (IOException e) {
            // The caller has closed: the measurement is over.
            System.getLogger(References.class.getName())
                    .log(System.Logger.Level.TRACE, "reference-ended", e);
        }
    }

    private static void write(SocketChannel channel, ByteBuffer from, long bytes)
            throws IOException {
        for (long left = bytes; left > 0; ) {
            from.clear().limit((int) Math.min(from.capacity(), left));
            while (from.hasRemaining()) {
                left -= channel.write(from);
            }
        }
    }

    private static void read(SocketChannel channel, ByteBuffer into, long bytes)
            throws IOException {
        for (long left = bytes; left > 0; ) {
            into.clear().limit((int) Math.min(into.capacity(), left));
            int got = channel.read(into);
            if (got < 0) {
                throw new EOFException();
            }
            left -= got;
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
