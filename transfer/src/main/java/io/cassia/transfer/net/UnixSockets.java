package io.cassia.transfer.net;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Sockets with a name in the file system instead of a port. Immutable. */
public final class UnixSockets {
    private static final int BACKLOG = 512;
    private static final String NAME = "data.sock";

    private UnixSockets() {}

    /** The one socket of a directory. */
    public static Path in(Path directory) {
        return directory.resolve(NAME);
    }

    /** Makes a directory that only this user may enter, and listens in it. */
    public static ServerSocketChannel listen(Path directory) throws IOException {
        Files.createDirectory(
                directory,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Path socket = in(directory);
        // Last in, first out.
        directory.toFile().deleteOnExit();
        socket.toFile().deleteOnExit();
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.bind(UnixDomainSocketAddress.of(socket), BACKLOG);
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            Files.deleteIfExists(directory);
            throw e;
        }
    }

    /**
     * A connected blocking channel; ERR_SOCKET when nobody accepts. The kernel answers at once,
     * also when too many wait already.
     */
    public static Outcome<SocketChannel> connect(Path socket) {
        try {
            SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                channel.configureBlocking(false);
                if (!channel.connect(UnixDomainSocketAddress.of(socket))) {
                    throw new IOException("too many wait to be accepted");
                }
                channel.configureBlocking(true);
                return Outcome.ok(channel);
            } catch (IOException | RuntimeException e) {
                channel.close();
                throw e;
            }
        } catch (IOException e) {
            return Outcome.failed(
                    TransferCode.ERR_SOCKET,
                    "cannot connect to %s: %s".formatted(socket, e.getMessage()));
        }
    }
}
