package io.cassia.transfer.transport;

import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * One contiguous copy on its way. Guarded: whoever has started it owns it until it is completed;
 * everybody may look whether it is.
 *
 * <pre>
 *   QUEUED ── tryStart ──► RUNNING ── complete | fail | endUnwanted ──► ENDED
 *      └───────────────── cancel | giveUp ──────────────────────────────► ENDED
 * </pre>
 *
 * The outcome is written before the phase, and the phase is read before the outcome: who sees ENDED
 * sees the outcome and all bytes. A running transfer that is given up is only marked: its owner
 * ends it when it has let go of its memory.
 */
public final class Transfer {
    /** Told on whatever thread ends the transfer; must not block. */
    public interface Listener {
        void ended(Transfer transfer);

        /** Its first bytes have been moved; fewer than before when it begins once more. */
        default void reached(Transfer transfer, long bytes) {}
    }

    /** How a transfer ended. */
    public enum End {
        COMPLETED,
        FAILED,
        /** Its deadline was over. */
        TIMED_OUT,
        /** Its owner did not want it any more. */
        CANCELED
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

    // Set at most once; why somebody does not want it any more.
    private volatile @Nullable End unwanted;

    private @Nullable Outcome<Done> outcome;
    private End end = End.COMPLETED;
    private int attempts;
    private long reachedBytes;

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

    /**
     * Ends it unless somebody has started it; then it is marked, and its owner ends it as soon as
     * it can. Only for transfers of a cancellable {@link Run}.
     *
     * @param why {@link End#CANCELED} or {@link End#TIMED_OUT}
     */
    public void giveUp(End why) {
        if (unwanted == null) {
            unwanted = why;
        }
        if (PHASE.compareAndSet(this, QUEUED, RUNNING)) {
            endUnwanted();
        }
    }

    /** Whether nobody wants it any more; a long copy looks from time to time. */
    public boolean isUnwanted() {
        return unwanted != null;
    }

    /** Ends a started transfer that was given up; nobody touches its memory any more. */
    public void endUnwanted() {
        if (unwanted == End.TIMED_OUT) {
            fail(TransferCode.ERR_SOCKET, "the deadline of its batch is over", true);
        } else {
            end = End.CANCELED;
            end(failure(TransferCode.ERR_CONTEXT, "cancelled by the caller"));
        }
    }

    /** Its first bytes have been moved and stay as they are; for the owner only. */
    public void reached(long bytes) {
        if (listener != null && bytes != reachedBytes) {
            reachedBytes = bytes;
            listener.reached(this, bytes);
        }
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
        end = late ? End.TIMED_OUT : End.FAILED;
        end(failure(code, detail));
    }

    private Outcome<Done> failure(Code code, String detail) {
        return Outcome.failed(
                code,
                "%s of %d bytes at 0x%x: %s"
                        .formatted(write ? "WRITE" : "READ", lengthBytes, remoteAddress, detail));
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

    /** How an ended transfer ended. */
    public End end() {
        if (!isEnded()) {
            throw new IllegalStateException("not ended");
        }
        return end;
    }

    /** Whether an ended transfer failed by its deadline. */
    public boolean isTimedOut() {
        return isEnded() && end == End.TIMED_OUT;
    }

    /** Counts that its request goes out once more; for the owner only. */
    public void sent() {
        attempts++;
    }

    /** What went out does not count: the connection was given up for another one's sake. */
    public void forgetAttempts() {
        attempts = 0;
    }

    /** How often its request went out; for the owner only. */
    public int attempts() {
        return attempts;
    }
}
