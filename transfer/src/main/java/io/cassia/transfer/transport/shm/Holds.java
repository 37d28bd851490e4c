package io.cassia.transfer.transport.shm;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/**
 * This engine's row in the control file of a peer: which of the peer's slots it is copying from or
 * to. Guarded: each cell belongs to one thread at a time.
 */
final class Holds {
    /** The slot is not what it was when it was looked up. */
    static final int STALE = -1;

    /** All cells are in use. */
    static final int FULL = -2;

    private static final long ALL = (1L << ControlLayout.CELLS) - 1;

    private final MemorySegment control;
    private final int row;

    /** Cells in use by threads of this engine; no other process takes cells of its row. */
    private final AtomicLong taken = new AtomicLong();

    private Holds(MemorySegment control, int row) {
        this.control = control;
        this.row = row;
    }

    /** Takes a row, if need be that of a dead process; empty when there are too many living. */
    static Optional<Holds> claim(
            MemorySegment control, ProcessId self, Predicate<ProcessId> isAlive) {
        for (int row = 0; row < ControlLayout.ROWS; row++) {
            if (ControlLayout.replace(control, ControlLayout.row(row), 0, self.word())) {
                return Optional.of(new Holds(control, row));
            }
        }
        for (int row = 0; row < ControlLayout.ROWS; row++) {
            long process = ControlLayout.get(control, ControlLayout.row(row));
            if (ProcessId.of(process).filter(isAlive).isEmpty()
                    && ControlLayout.replace(
                            control, ControlLayout.row(row), process, self.word())) {
                OwnSlots.clear(control, row);
                return Optional.of(new Holds(control, row));
            }
        }
        return Optional.empty();
    }

    /** The present word of a slot. */
    long word(int slot) {
        return ControlLayout.get(control, ControlLayout.slot(slot));
    }

    /**
     * Keeps a slot for a copy, for which its word must still be what it was; the cell for {@link
     * #leave}, or {@link #STALE} or {@link #FULL}.
     */
    int enter(int slot, long word) {
        int cell = take();
        if (cell == FULL) {
            return FULL;
        }
        ControlLayout.set(control, ControlLayout.cell(row, cell), slot + 1L);
        if (word(slot) == word) {
            return cell;
        }
        leave(cell);
        return STALE;
    }

    private int take() {
        while (true) {
            long before = taken.get();
            if (before == ALL) {
                return FULL;
            }
            int cell = Long.numberOfTrailingZeros(~before);
            if (taken.compareAndSet(before, before | (1L << cell))) {
                return cell;
            }
        }
    }

    /** The copy has ended: its bytes are written. */
    void leave(int cell) {
        ControlLayout.set(control, ControlLayout.cell(row, cell), 0);
        taken.getAndUpdate(before -> before & ~(1L << cell));
    }

    /** Gives the row back; no copy is under way, and none may begin. */
    void release() {
        ControlLayout.set(control, ControlLayout.row(row), 0);
    }
}
