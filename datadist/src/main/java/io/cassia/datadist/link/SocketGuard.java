package io.cassia.datadist.link;

import java.io.IOException;
import java.net.Socket;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Closes sockets whose time is over, so that a peer that dribbles bytes cannot hold a thread.
 * Guarded.
 */
final class SocketGuard {
    private final Map<Socket, Long> deadlines = new ConcurrentHashMap<>();

    void watch(Socket socket, long deadlineNanos) {
        deadlines.put(socket, deadlineNanos);
    }

    /** Another deadline for a watched socket; false when the first one has closed it. */
    boolean extend(Socket socket, long fromNanos, long toNanos) {
        return deadlines.replace(socket, fromNanos, toNanos);
    }

    void forget(Socket socket) {
        deadlines.remove(socket);
    }

    /** Closes a socket that nothing is to come of. */
    void close(Socket socket) {
        forget(socket);
        closeQuietly(socket);
    }

    void closeOverdue(long nowNanos) {
        deadlines.forEach(
                (socket, deadline) -> {
                    if (nowNanos - deadline > 0 && deadlines.remove(socket, deadline)) {
                        closeQuietly(socket);
                    }
                });
    }

    void closeAll() {
        deadlines.keySet().forEach(SocketGuard::closeQuietly);
        deadlines.clear();
    }

    static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // Nothing was to come of it any more.
        }
    }
}
