package io.cassia.transfer.handshake;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** Messages that peers pushed and nobody has taken yet, in order of arrival. Guarded. */
public final class Inbox {
    /**
     * One message. Immutable.
     *
     * @param name whatever the sender calls itself
     * @param message its text
     */
    public record Message(String name, String message) {}

    private static final int MAX_MESSAGES = 65_536;
    private static final long MAX_CHARS = 64L << 20;

    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private List<Message> messages = new ArrayList<>();

    @GuardedBy("lock")
    private long chars;

    /** Queues a message; false when too many wait. */
    boolean offer(Message message) {
        long length = (long) message.name().length() + message.message().length();
        lock.lock();
        try {
            if (messages.size() >= MAX_MESSAGES || chars + length > MAX_CHARS) {
                return false;
            }
            messages.add(message);
            chars += length;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Number of messages that nobody has taken. */
    public int size() {
        lock.lock();
        try {
            return messages.size();
        } finally {
            lock.unlock();
        }
    }

    /** Takes all. */
    public List<Message> drain() {
        lock.lock();
        try {
            List<Message> taken = messages;
            messages = new ArrayList<>();
            chars = 0;
            return taken;
        } finally {
            lock.unlock();
        }
    }
}
