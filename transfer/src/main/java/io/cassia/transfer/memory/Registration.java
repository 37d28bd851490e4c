package io.cassia.transfer.memory;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One registered range and the number of transfers that use it. Guarded: a counter that is changed
 * atomically; the lock serves only those who wait for the last transfer.
 *
 * <pre>
 *   REGISTERED ── drain() ──► DRAINING ── holders == 0 ──► CLOSED
 *   tryHold() counts up       tryHold() refuses            memory may be unmapped
 *
 *   word:  | draining : 1 | holders : 31 |
 * </pre>
 */
public final class Registration {
    /** Where in its life a registration is. */
    public enum State {
        REGISTERED,
        DRAINING,
        CLOSED
    }

    /** A socket call takes views of at most this size; {@link ByteBuffer} indices are ints. */
    public static final long WINDOW_BYTES = 1L << 30;

    private static final int DRAINING_BIT = 1 << 31;
    private static final int HOLDERS_MASK = ~DRAINING_BIT;
    private static final VarHandle WORD;

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(Registration.class, "word", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // The view of a range lives as long as the range is reachable, so the memory cannot go away
    // under an address that is still registered.
    private final MemorySegment memory;
    private final @Nullable LentFile lent;
    private final long address;
    private final long lengthBytes;
    private final String location;
    private final boolean readable;
    private final boolean writable;
    private final ByteBuffer[] windows;

    @SuppressWarnings("UnusedVariable") // read and written through WORD
    private volatile int word;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition drained = lock.newCondition();

    Registration(
            MemorySegment memory,
            @Nullable LentFile lent,
            String location,
            boolean readable,
            boolean writable) {
        this.memory = memory;
        this.lent = lent;
        this.address = memory.address();
        this.lengthBytes = memory.byteSize();
        this.location = location;
        this.readable = readable;
        this.writable = writable && !memory.isReadOnly();
        this.windows = windowsOf(memory);
    }

    private static ByteBuffer[] windowsOf(MemorySegment memory) {
        int count = Math.toIntExact((memory.byteSize() + WINDOW_BYTES - 1) / WINDOW_BYTES);
        ByteBuffer[] windows = new ByteBuffer[count];
        for (int i = 0; i < count; i++) {
            long from = i * WINDOW_BYTES;
            long length = Math.min(WINDOW_BYTES, memory.byteSize() - from);
            windows[i] = memory.asSlice(from, length).asByteBuffer();
        }
        return windows;
    }

    /** The memory; when it {@link #isLent} nobody but the kernel may touch it. */
    public MemorySegment memory() {
        return memory;
    }

    /** Whether it is in another program's file, and may go at any moment. */
    public boolean isLent() {
        return lent != null;
    }

    /**
     * Copies out of or into lent memory, for those who hold the range; false when it is not there
     * any more.
     *
     * @param here native memory
     */
    public boolean copyLent(boolean write, long offset, MemorySegment here) {
        LentFile file = lent;
        if (file == null) {
            throw new IllegalStateException("range " + this + " is not lent");
        }
        long at = address - file.memory().address() + offset;
        return write ? file.write(at, here) : file.read(at, here);
    }

    /** First address, unsigned. */
    public long address() {
        return address;
    }

    /** Last address, unsigned, inclusive: a range may end at the end of the address space. */
    long lastAddress() {
        return address + lengthBytes - 1;
    }

    public long lengthBytes() {
        return lengthBytes;
    }

    public String location() {
        return location;
    }

    /** Whether peers see it. */
    public boolean readable() {
        return readable;
    }

    /** Whether peers may write to it. */
    public boolean writable() {
        return writable;
    }

    /**
     * The view that holds the byte at an offset; it starts at a multiple of {@link #WINDOW_BYTES}.
     * Callers duplicate it and never change its position.
     */
    public ByteBuffer window(long offset) {
        return windows[(int) (offset / WINDOW_BYTES)];
    }

    public State state() {
        int now = (int) WORD.getVolatile(this);
        if (now >= 0) {
            return State.REGISTERED;
        }
        return (now & HOLDERS_MASK) == 0 ? State.CLOSED : State.DRAINING;
    }

    /** Keeps the memory for one transfer; false once it is being drained. */
    public boolean tryHold() {
        while (true) {
            int now = (int) WORD.getVolatile(this);
            if (now < 0) {
                return false;
            }
            if (now == HOLDERS_MASK) {
                throw new IllegalStateException("too many holders");
            }
            if (WORD.compareAndSet(this, now, now + 1)) {
                return true;
            }
        }
    }

    /** Ends what {@link #tryHold} began. */
    public void release() {
        int before = (int) WORD.getAndAdd(this, -1);
        if ((before & HOLDERS_MASK) == 0) {
            throw new IllegalStateException("released more often than held");
        }
        if (before == (DRAINING_BIT | 1)) {
            lock.lock();
            try {
                drained.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Refuses new transfers from now on. */
    void drain() {
        WORD.getAndBitwiseOr(this, DRAINING_BIT);
    }

    /**
     * Waits until no transfer uses the memory; false when the time is over before. An interrupt
     * does not end the wait: the memory is in use all the same.
     */
    boolean awaitClosed(long timeoutNanos) {
        boolean interrupted = false;
        lock.lock();
        try {
            long left = timeoutNanos;
            while (state() != State.CLOSED && left > 0) {
                try {
                    left = drained.awaitNanos(left);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            return state() == State.CLOSED;
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public String toString() {
        return "0x" + Long.toHexString(address) + "+" + lengthBytes;
    }
}
