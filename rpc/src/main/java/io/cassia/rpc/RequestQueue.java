package io.cassia.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.rpc.pack.BodyTooLargeException;
import io.cassia.rpc.pack.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Requests on their way out. Guarded by its lock; the socket and the buffer being written belong to
 * the one thread that is writing.
 *
 * <p>Callers encode into one buffer. Who finds nobody writing writes the buffer and goes on until
 * there is nothing left, while the others only add: many callers share a system call.
 *
 * <pre>
 * IDLE -- add --> WRITING -- all written, nothing added --> IDLE
 *                 WRITING -- socket full --> STUCK -- writable again --> WRITING
 * </pre>
 */
final class RequestQueue {
    /** What {@link #add} can say. */
    enum Added {
        /** Somebody else is writing and will take the request along. */
        QUEUED,
        /** The caller must {@link #write} now. */
        MUST_WRITE,
        /** Too many calls or bytes wait already; nothing was added. */
        FULL,
        /** The request is longer than a request may be; nothing was added. */
        TOO_LARGE,
        /** The caller was interrupted while it waited for room; nothing was added. */
        INTERRUPTED,
        /** The connection is closed; nothing was added. */
        CLOSED
    }

    /**
     * What a caller waits for. Room for bytes always comes, because somebody is writing; room for
     * calls comes only if somebody reads, so that a thread which has unread calls of its own must
     * not wait for it.
     *
     * @param nanos how long to wait at most
     */
    record Room(boolean forCalls, long nanos) {
        static final Room NONE = new Room(false, 0);
    }

    private static final int INITIAL_BYTES = 512;
    private static final int HOLD_BYTES = 64 << 10;
    private static final int KEEP_BYTES = 128 << 10;
    private static final int MAX_WAITING_BYTES = 4 << 20;
    private static final int MAX_WRITE_BYTES = 256 << 10;

    private final SocketChannel channel;
    private final CallTable calls;
    private final int maxBodyBytes;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition room = lock.newCondition();

    @GuardedBy("lock")
    private WireWriter waiting = new WireWriter(INITIAL_BYTES, Integer.MAX_VALUE);

    @GuardedBy("lock")
    private boolean writing;

    @GuardedBy("lock")
    private boolean closed;

    @GuardedBy("lock")
    private long queuedBytes;

    private volatile boolean callersWait;

    // Of the thread that is writing.
    private WireWriter current = new WireWriter(INITIAL_BYTES, Integer.MAX_VALUE);
    private ByteBuffer view = ByteBuffer.wrap(current.array());
    private int written;
    private long sent;

    private volatile long sentBytes;

    RequestQueue(SocketChannel channel, CallTable calls, int maxBodyBytes) {
        this.channel = channel;
        this.calls = calls;
        this.maxBodyBytes = maxBodyBytes;
    }

    /**
     * Encodes a request and makes its call visible to replies.
     *
     * @param waits which room to wait for, and until when
     * @param hold leave the writing to a later caller or to {@link #flush}, while it is little
     */
    <A> Added add(
            ClientCall<?> call,
            RpcMethod<A, ?> method,
            A arguments,
            Attachment attachment,
            Room waits,
            boolean hold) {
        lock.lock();
        try {
            if (!awaitRoom(waits)) {
                return closed ? Added.CLOSED : Added.FULL;
            }
            int start = waiting.position();
            int sequence = calls.nextSequence();
            if (!encode(sequence, method, arguments, attachment)) {
                waiting.truncate(start);
                return Added.TOO_LARGE;
            }
            queuedBytes += waiting.position() - start;
            call.queued(sequence, queuedBytes);
            calls.add(call);
            boolean later = hold && waiting.position() < HOLD_BYTES;
            return writing || later ? Added.QUEUED : startWriting();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Added.INTERRUPTED;
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private boolean awaitRoom(Room waits) throws InterruptedException {
        long left = waits.nanos();
        while (!closed) {
            boolean full = calls.isFull();
            if (!full && waiting.position() <= MAX_WAITING_BYTES) {
                return true;
            }
            if (left <= 0 || (full && !waits.forCalls())) {
                return false;
            }
            if (callersWait) {
                left = room.awaitNanos(left);
            } else {
                // Looked at once more: what made room before it could know has told nobody.
                callersWait = true;
            }
        }
        return false;
    }

    /** Tells callers that wait for room that there may be some. */
    void roomMade() {
        if (callersWait) {
            lock.lock();
            try {
                callersWait = false;
                room.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    @GuardedBy("lock")
    private <A> boolean encode(
            int sequence, RpcMethod<A, ?> method, A arguments, Attachment attachment) {
        int start = waiting.position();
        try {
            waiting.limit(start + FrameLayout.REQUEST_BYTES + maxBodyBytes);
            FrameLayout.writeRequest(waiting, sequence, method.functionId());
            int body = waiting.position();
            method.arguments().write(waiting, arguments);
            int end = waiting.position();
            waiting.i32At(start + FrameLayout.REQUEST_BODY, end - body);
            waiting.limit(end + maxBodyBytes);
            attachment.write(waiting);
            waiting.i32At(start + FrameLayout.REQUEST_ATTACHMENT, waiting.position() - end);
            return end - body <= maxBodyBytes;
        } catch (BodyTooLargeException e) {
            // The caller reports it; the exception knows no more than that.
            return false;
        } catch (RuntimeException e) {
            waiting.truncate(start);
            throw e;
        }
    }

    /** Makes the caller the one who writes. */
    @GuardedBy("lock")
    private Added startWriting() {
        writing = true;
        swap();
        return Added.MUST_WRITE;
    }

    @GuardedBy("lock")
    private void swap() {
        WireWriter full = waiting;
        waiting = current;
        current = full;
        written = 0;
        view = ByteBuffer.wrap(full.array());
        if (callersWait) {
            callersWait = false;
            room.signalAll();
        }
    }

    /** Starts writing what waits, if nobody does; true if the caller must {@link #write} now. */
    boolean flush() {
        lock.lock();
        try {
            if (writing || closed || waiting.position() == 0) {
                return false;
            }
            return startWriting() == Added.MUST_WRITE;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Writes until nothing waits. Only by the thread that must.
     *
     * @return false when the socket takes no more for now: the caller must see to it that somebody
     *     calls this again once the socket is writable
     */
    boolean write() throws IOException {
        do {
            int length = current.position();
            while (written < length) {
                view.limit(Math.min(length, written + MAX_WRITE_BYTES)).position(written);
                int count = channel.write(view);
                if (count == 0) {
                    return false;
                }
                written += count;
                sent += count;
                sentBytes = sent;
            }
            current.clear(KEEP_BYTES);
        } while (takeMore());
        return true;
    }

    private boolean takeMore() {
        lock.lock();
        try {
            if (waiting.position() == 0) {
                writing = false;
                return false;
            }
            swap();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Whether all bytes of the call's request went to the socket. */
    boolean isSent(ClientCall<?> call) {
        return call.endOffset() <= sentBytes;
    }

    /** Refuses further requests. Afterwards no call is added any more. */
    void close() {
        lock.lock();
        try {
            closed = true;
            room.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
