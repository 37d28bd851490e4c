package io.cassia.transfer.transport;

import io.cassia.status.Code;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Started transfers to one peer, carried out in order. Confined to the thread that carries them:
 * those before {@code next} have ended or were passed, the others have not.
 */
public final class Run {
    /** Why a route stopped before the end. */
    public enum Stop {
        /** The peer refused one transfer, which has ended, and closed the connection. */
        REJECTED,
        /** The peer does not serve this engine at all. */
        REFUSED,
        /** The connection broke; whether the peer is alive is not known. */
        BROKEN,
        /** The peer answered what the protocol does not know. */
        PROTOCOL,
        /** No connection can be had. */
        UNREACHABLE,
        /** No connection could be had a moment ago, and none is tried again yet. */
        BACKING_OFF,
        /** The next transfer's deadline is over. */
        TIMED_OUT,
        /** The peer moved no byte for too long. */
        STALLED,
        /** The peer's lanes are all in use until the deadline. */
        BUSY,
        /** Local memory was freed. */
        MEMORY_GONE,
        /** The calling thread was interrupted; or a transfer of a cancellable run was given up. */
        INTERRUPTED,
        /** The engine is being closed. */
        CLOSED;

        /** For people. */
        public String label() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * An early stop. Immutable.
     *
     * @param stop what happened
     * @param code code for transfers that fail by it
     * @param detail peer and cause
     */
    public record Loss(Stop stop, Code code, String detail) {}

    private final boolean cancellable;
    private List<Transfer> transfers;
    private int next;
    private int passed;
    private RouteReason because = RouteReason.PREFERRED;
    private @Nullable Loss loss;

    public Run(List<Transfer> transfers) {
        this(transfers, false);
    }

    private Run(List<Transfer> transfers, boolean cancellable) {
        this.transfers = transfers;
        this.cancellable = cancellable;
    }

    /**
     * A run whose transfers may be given up at any time: whoever does so interrupts the thread that
     * carries it, and an interrupt means nothing else.
     */
    public static Run cancellable(List<Transfer> transfers) {
        return new Run(transfers, true);
    }

    /** Whether an interrupt means that a transfer was given up. */
    public boolean isCancellable() {
        return cancellable;
    }

    public int size() {
        return transfers.size();
    }

    public Transfer get(int index) {
        return transfers.get(index);
    }

    /** Number of the first transfer that has not ended. */
    public int next() {
        return next;
    }

    public boolean isDone() {
        return next == transfers.size();
    }

    /** The first transfer that has not ended. */
    public Transfer head() {
        return transfers.get(next);
    }

    /** A route begins: what another one has moved of those that have not ended is void. */
    public void begin() {
        for (int i = next; i < transfers.size(); i++) {
            transfers.get(i).reached(0);
        }
    }

    /** Ends the head well. */
    public void completeHead() {
        transfers.get(next++).complete();
    }

    /** Ends the head with a failure. */
    public void failHead(Code code, String detail, boolean late) {
        transfers.get(next++).fail(code, detail, late);
    }

    /** Ends all that have not ended. */
    public void failRest(Code code, String detail, boolean late) {
        while (!isDone()) {
            failHead(code, detail, late);
        }
    }

    /** Leaves the head to another route, which gets it with {@link #resume}. */
    public void passHead() {
        next++;
        passed++;
    }

    /** Takes those that were passed back, in order, for another route. */
    public void resume() {
        if (passed > 0) {
            transfers = transfers.stream().filter(transfer -> !transfer.isEnded()).toList();
            next = 0;
            passed = 0;
        }
    }

    /** How many have not ended, nor been passed. */
    public int left() {
        return transfers.size() - next;
    }

    /** Why a faster route has left these; PREFERRED when none was asked. */
    public RouteReason because() {
        return because;
    }

    public void because(RouteReason reason) {
        because = reason;
    }

    /** Ends those whose local memory was freed; false when there are none. */
    public boolean failFreed(Code code, String detail) {
        List<Transfer> alive = new ArrayList<>(transfers.subList(0, next));
        for (Transfer transfer : transfers.subList(next, transfers.size())) {
            if (transfer.local().scope().isAlive()) {
                alive.add(transfer);
            } else {
                transfer.fail(code, detail);
            }
        }
        boolean found = alive.size() < transfers.size();
        transfers = alive;
        return found;
    }

    /**
     * Takes note of an interrupt that gives transfers up: ends those that nobody wants, so that the
     * others are carried again. False when there was none, or it is the caller's own.
     */
    public boolean heedInterrupt() {
        if (!cancellable || !Thread.interrupted()) {
            return false;
        }
        endUnwanted();
        transfers.subList(next, transfers.size()).forEach(Transfer::forgetAttempts);
        return true;
    }

    /** Ends those that nobody wants any more. */
    public void endUnwanted() {
        if (!cancellable) {
            return;
        }
        List<Transfer> wanted = new ArrayList<>(transfers.subList(0, next));
        for (Transfer transfer : transfers.subList(next, transfers.size())) {
            if (transfer.isUnwanted()) {
                transfer.endUnwanted();
            } else {
                wanted.add(transfer);
            }
        }
        transfers = wanted;
    }

    /** Tells why the route stops early. */
    public void lose(Stop stop, Code code, String detail) {
        loss = new Loss(stop, code, detail);
    }

    /** Why the last route stopped early; forgotten by the call. */
    public @Nullable Loss takeLoss() {
        Loss taken = loss;
        loss = null;
        return taken;
    }
}
