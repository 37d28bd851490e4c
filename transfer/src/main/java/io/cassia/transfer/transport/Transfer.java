package io.cassia.transfer.transport;

import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * One contiguous copy on its way. Guarded: whoever has started it owns it until it is completed;
 * everybody may look whether it is.
 *
 * <pre>
 *   QUEUED ── tryStart ──► RUNNING ── complete | fail ──► ENDED
 *      └───────────────── cancel ─────────────────────────► ENDED
 * </pre>
 *
 * The outcome is written before the phase, and the phase is read before the outcome: who sees ENDED
 * sees the outcome and all bytes.
 */
public final class Transfer {
    /** Told on whatever thread ends the transfer; must not block. */
    public interface Listener {
        void ended(Transfer transfer);
    }

    private static final int QUEUED = 0;
    private static final int RUNNING = 1;
    private static final int ENDED = 2;
    private static final VarHandle PHASE;

    static {
        try {
            PHASE = MethodHandles.lookup().findVarHandle(Transfer.class, "phase", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final boolean write;
    private final MemorySegment local;
    private final long remoteAddress;
    private final long lengthBytes;
    private final long deadlineNanos;
    private final @Nullable Listener listener;

    @SuppressWarnings("UnusedVariable") // read and written through PHASE
    private volatile int phase;

    private @Nullable Outcome<Done> outcome;
    private boolean timedOut;
    private int attempts;

    /**
     * A queued transfer.
     *
     * @param write direction; false reads from the peer
     * @param remoteAddress unsigned
     * @param deadlineNanos on the engine's clock
     */
    public Transfer(
            boolean write,
            MemorySegment local,
            long remoteAddress,
            long deadlineNanos,
            @Nullable Listener listener) {
        this.write = write;
        this.local = local;
        this.remoteAddress = remoteAddress;
        this.lengthBytes = local.byteSize();
        this.deadlineNanos = deadlineNanos;
        this.listener = listener;
    }

    public boolean isWrite() {
        return write;
    }

    public MemorySegment local() {
        return local;
    }

    public long remoteAddress() {
        return remoteAddress;
    }

    public long lengthBytes() {
        return lengthBytes;
    }

    public long deadlineNanos() {
        return deadlineNanos;
    }

    /** Takes it out of the queue; false when it was cancelled. */
    public boolean tryStart() {
        return PHASE.compareAndSet(this, QUEUED, RUNNING);
    }

    /** Ends it unless somebody has started it. */
    public boolean cancel(Code code, String detail, boolean late) {
        if (!PHASE.compareAndSet(this, QUEUED, RUNNING)) {
            return false;
        }
        fail(code, detail, late);
        return true;
    }

    /** All bytes have arrived. */
    public void complete() {
        end(Outcome.done());
    }

    /** It has failed; nobody touches its memory any more. */
    public void fail(Code code, String detail) {
        fail(code, detail, false);
    }

    /** It has failed, by its deadline when {@code late}. */
    public void fail(Code code, String detail, boolean late) {
        timedOut = late;
        end(
                Outcome.failed(
                        code,
                        "%s of %d bytes at 0x%x: %s"
                                .formatted(
                                        write ? "WRITE" : "READ",
                                        lengthBytes,
                                        remoteAddress,
                                        detail)));
    }

    private void end(Outcome<Done> result) {
        outcome = result;
        PHASE.setRelease(this, ENDED);
        if (listener != null) {
            listener.ended(this);
        }
    }

    public boolean isEnded() {
        return (int) PHASE.getAcquire(this) == ENDED;
    }

    /** The outcome of an ended transfer. */
    public Outcome<Done> outcome() {
        if (!isEnded() || outcome == null) {
            throw new IllegalStateException("not ended");
        }
        return outcome;
    }

    /** Whether an ended transfer failed by its deadline. */
    public boolean isTimedOut() {
        return isEnded() && timedOut;
    }

    /** Counts that its request goes out once more; for the owner only. */
    public void sent() {
        attempts++;
    }

    /** How often its request went out; for the owner only. */
    public int attempts() {
        return attempts;
    }
}
