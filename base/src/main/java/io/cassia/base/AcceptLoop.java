package io.cassia.base;

import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.function.Consumer;

/** Accepts connections until its listener is closed. Immutable. */
public final class AcceptLoop {
    private AcceptLoop() {}

    /** What becomes of a connection. */
    @FunctionalInterface
    public interface Admission {
        /** Owns the channel, unless it throws. */
        void admit(SocketChannel channel) throws IOException;
    }

    /**
     * Returns when the listener is closed. Whatever is the matter with one connection closes that
     * one, and must not leave the server deaf.
     *
     * @param failed told of each connection that could not be accepted or admitted; out of
     *     descriptors, mostly, so it should pause: connections do end
     */
    public static void run(
            ServerSocketChannel listener, Admission admission, Consumer<Throwable> failed) {
        while (listener.isOpen()) {
            try {
                accept(listener, admission);
            } catch (IOException e) {
                if (listener.isOpen()) {
                    failed.accept(e);
                }
            } catch (RuntimeException | OutOfMemoryError e) {
                failed.accept(e);
            }
        }
    }

    private static void accept(ServerSocketChannel listener, Admission admission)
            throws IOException {
        SocketChannel channel = listener.accept();
        boolean admitted = false;
        try {
            admission.admit(channel);
            admitted = true;
        } finally {
            if (!admitted) {
                channel.close();
            }
        }
    }
}
