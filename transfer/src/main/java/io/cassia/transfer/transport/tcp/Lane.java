package io.cassia.transfer.transport.tcp;

import io.cassia.base.Spin;
import io.cassia.status.TransferCode;
import io.cassia.transfer.net.Watchdog;
import io.cassia.transfer.net.Wire;
import io.cassia.transfer.transport.Run;
import io.cassia.transfer.transport.Transfer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;

/**
 * One connection to a peer's data port. Confined to the thread that has borrowed it, but for {@link
 * #abort}.
 *
 * <pre>
 *   connect ──► IDLE ── borrow ──► BUSY ── all answered ──► IDLE
 *                                   └── rejected, broken, late ──► CLOSED
 * </pre>
 *
 * Each I/O call is made under the nearer of two deadlines: that of the transfer that waits for its
 * answer, and the time a peer may stall. When it is over the watchdog closes the channel, which
 * ends the call; no byte can land in local memory after that.
 */
final class Lane {
    private final Wire wire;
    private final ClientContext context;
    private final Watchdog.Watch watch;
    private final String peer;
    private final Pipeline pipeline;
    private final Spin spin;
    private final Spin bulkSpin;
    private long idleSinceNanos;
    private int generation;

    Lane(Wire wire, ClientContext context, String peer) {
        this.wire = wire;
        this.context = context;
        this.peer = peer;
        this.watch = context.watchdog().watch(this::abort);
        this.pipeline = new Pipeline(this);
        this.spin = new Spin(context.clock());
        this.bulkSpin = new Spin(context.clock());
    }

    String peer() {
        return peer;
    }

    ClientContext context() {
        return context;
    }

    /** Carries a run with acknowledged requests; false when the lane is of no more use. */
    boolean carry(Run run) {
        boolean usable = guarded(run, () -> pipeline.carry(run));
        return usable && watch.disarm();
    }

    /**
     * Carries the head of a run with one unacknowledged request, the only one of this lane; false
     * when it did not end.
     */
    boolean carryHeadUnacknowledged(Run run) {
        return guarded(run, () -> new LegacyExchange(this).carryHead(run));
    }

    private interface Work {
        void run() throws IOException;
    }

    /** False when it ended early; the run then knows why. */
    private boolean guarded(Run run, Work work) {
        try {
            work.run();
            return true;
        } catch (ClosedByInterruptException e) {
            run.lose(
                    Run.Stop.INTERRUPTED,
                    TransferCode.ERR_SOCKET,
                    "interrupted during I/O with " + peer);
        } catch (RejectedException e) {
            boolean everything = e.code == TransferCode.ERR_REJECT_HANDSHAKE;
            run.lose(everything ? Run.Stop.REFUSED : Run.Stop.REJECTED, e.code, e.detail);
        } catch (LateException e) {
            run.lose(
                    Run.Stop.TIMED_OUT,
                    TransferCode.ERR_SOCKET,
                    "not all was written to " + peer + " within the deadline");
        } catch (ProtocolException e) {
            run.lose(Run.Stop.PROTOCOL, TransferCode.ERR_ENDPOINT, e.detail);
        } catch (IOException e) {
            lose(run, e);
        } catch (IllegalStateException e) {
            // The JDK refuses I/O on memory whose arena was closed.
            run.lose(Run.Stop.MEMORY_GONE, TransferCode.ERR_INVALID_ARGUMENT, e.toString());
        }
        return false;
    }

    private void lose(Run run, IOException e) {
        if (!watch.isExpired()) {
            run.lose(Run.Stop.BROKEN, TransferCode.ERR_SOCKET, "connection to " + peer + ": " + e);
        } else if (run.isDone() || run.head().deadlineNanos() - context.clock().nanos() <= 0) {
            run.lose(
                    Run.Stop.TIMED_OUT,
                    TransferCode.ERR_SOCKET,
                    peer + " did not answer within the deadline");
        } else {
            run.lose(
                    Run.Stop.STALLED,
                    TransferCode.ERR_SOCKET,
                    "%s moved no byte for %d ms".formatted(peer, context.stallNanos() / 1_000_000));
        }
    }

    /** Sets the deadline of the next call that waits for a transfer. */
    void arm(Transfer transfer) {
        long stalled = context.clock().nanos() + context.stallNanos();
        long deadline = transfer.deadlineNanos();
        watch.arm(deadline - stalled < 0 ? deadline : stalled);
    }

    /**
     * Nothing is written once the deadline is over, not even by a process that was stopped right
     * before: the peer's memory may be another one's by now.
     */
    void requireTime(Transfer transfer) throws LateException {
        if (transfer.deadlineNanos() - context.clock().nanos() <= 0) {
            throw new LateException();
        }
    }

    /** An answer is expected at once. */
    void stayAwake() throws IOException {
        wire.stayAwake(spin);
    }

    /** Much is expected. */
    void stayAwakeForMore() throws IOException {
        wire.stayAwakeForMore(bulkSpin);
    }

    /** Reads what is there, at least one byte; throws at the end of the stream. */
    void read(ByteBuffer[] into, int from, int count) throws IOException {
        if (wire.read(into, from, count) < 0) {
            throw new IOException("closed by the peer");
        }
    }

    /** Reads what is there; negative at the end of the stream. */
    int read(ByteBuffer into) throws IOException {
        return wire.read(into);
    }

    /** Writes some, on a platform thread all. */
    void write(ByteBuffer[] out, int from, int count) throws IOException {
        wire.write(out, from, count);
    }

    void shutdownOutput() throws IOException {
        wire.shutdownOutput();
    }

    void generation(int number) {
        generation = number;
    }

    /** The number of breaks of its route before it was made. */
    int generation() {
        return generation;
    }

    void idleSince(long nanos) {
        idleSinceNanos = nanos;
    }

    long idleSinceNanos() {
        return idleSinceNanos;
    }

    /** Closes at once, from any thread; what the kernel has not sent yet is dropped. */
    void abort() {
        watch.close();
        wire.reset();
    }

    /** Closes, from any thread. */
    void close() {
        watch.close();
        wire.close();
    }

    /** The deadline is over, and nothing more was written. */
    static final class LateException extends IOException {
        private static final long serialVersionUID = 1L;

        private LateException() {
            super("the deadline is over");
        }
    }

    /** The peer refused a transfer, which has ended. */
    static final class RejectedException extends IOException {
        private static final long serialVersionUID = 1L;

        private final TransferCode code;
        private final String detail;

        RejectedException(TransferCode code, String detail) {
            super(detail);
            this.code = code;
            this.detail = detail;
        }
    }

    /** The peer answered what the protocol does not know. */
    static final class ProtocolException extends IOException {
        private static final long serialVersionUID = 1L;

        private final String detail;

        ProtocolException(String detail) {
            super(detail);
            this.detail = detail;
        }
    }
}
