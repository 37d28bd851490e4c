package io.cassia.transfer.transport.shm;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.function.Predicate;

/**
 * The owner's side of a control file. Confined to whoever holds the owner's lock; what peers change
 * at the same time is accessed as {@link ControlLayout} says.
 */
final class OwnSlots {
    private static final int NO_SLOT = -1;

    /** Makes the memory of some slots present; false when the host has none left. */
    interface Growth {
        boolean grow(long offset, long lengthBytes);
    }

    private final MemorySegment control;
    private final ProcessId self;
    private final Predicate<ProcessId> isAlive;
    private final Growth growth;
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private int used;
    private int present = ControlLayout.FIRST_SLOTS;

    OwnSlots(MemorySegment control, ProcessId self, Predicate<ProcessId> isAlive, Growth growth) {
        this.control = control;
        this.self = self;
        this.isAlive = isAlive;
        this.growth = growth;
    }

    /** Opens a buffer to the peers; its slot, or a negative number when there is no room. */
    int add(long address, long lengthBytes, long file, long offset, boolean writable) {
        int slot = take();
        if (slot == NO_SLOT) {
            change(ControlLayout.UNSLOTTED_OFFSET, 1);
        } else {
            long at = ControlLayout.slot(slot);
            long generation = ControlLayout.generation(ControlLayout.get(control, at)) + 1;
            ControlLayout.set(control, at + 8, address);
            ControlLayout.set(control, at + 16, lengthBytes);
            ControlLayout.set(control, at + 24, file);
            ControlLayout.set(control, at + 32, offset);
            ControlLayout.set(
                    control,
                    at,
                    ControlLayout.word(generation, ControlLayout.REGISTERED, writable));
        }
        change(ControlLayout.CHANGES_OFFSET, 1);
        return slot;
    }

    private int take() {
        Integer again = free.poll();
        if (again != null) {
            return again;
        }
        if (used == ControlLayout.SLOTS) {
            return NO_SLOT;
        }
        if (used == present) {
            if (!growth.grow(
                    ControlLayout.slot(present),
                    (long) ControlLayout.SLOT_STEP * ControlLayout.SLOT_BYTES)) {
                return NO_SLOT;
            }
            present += ControlLayout.SLOT_STEP;
        }
        int slot = used++;
        ControlLayout.set(control, ControlLayout.USED_OFFSET, used);
        return slot;
    }

    private void change(long offset, long by) {
        // This process is the only one that writes these.
        ControlLayout.set(control, offset, ControlLayout.get(control, offset) + by);
    }

    /** A buffer without a slot is gone. */
    void removeUnslotted() {
        change(ControlLayout.UNSLOTTED_OFFSET, -1);
        change(ControlLayout.CHANGES_OFFSET, 1);
    }

    /** No copy begins from now on. */
    void drain(int slot) {
        setState(slot, ControlLayout.DRAINING);
        change(ControlLayout.CHANGES_OFFSET, 1);
    }

    /** Copies under way stop at their next step. */
    void abort(int slot) {
        setState(slot, ControlLayout.ABORTING);
    }

    /** Whoever looks a slot up once more finds nothing, and it can be taken anew. */
    void free(int slot) {
        setState(slot, ControlLayout.FREE);
        free.add(slot);
    }

    private void setState(int slot, int state) {
        long at = ControlLayout.slot(slot);
        ControlLayout.set(
                control, at, ControlLayout.withState(ControlLayout.get(control, at), state));
    }

    /**
     * Whether no copy uses a slot.
     *
     * @param bury whether to ask if the processes that seem to use it still live; costs more
     */
    boolean isQuiet(int slot, boolean bury) {
        boolean quiet = true;
        for (int row = 0; row < ControlLayout.ROWS; row++) {
            long process = ControlLayout.get(control, ControlLayout.row(row));
            if (process != 0 && names(row, slot) && !(bury && buried(row, process))) {
                quiet = false;
            }
        }
        return quiet;
    }

    private boolean names(int row, int slot) {
        for (int cell = 0; cell < ControlLayout.CELLS; cell++) {
            if (ControlLayout.get(control, ControlLayout.cell(row, cell)) == slot + 1) {
                return true;
            }
        }
        return false;
    }

    /** Clears the row of a dead process; false when it lives, or somebody else clears it. */
    private boolean buried(int row, long process) {
        if (ProcessId.of(process).filter(isAlive).isPresent()
                || !ControlLayout.replace(control, ControlLayout.row(row), process, self.word())) {
            return false;
        }
        clear(control, row);
        ControlLayout.set(control, ControlLayout.row(row), 0);
        return true;
    }

    /** Clears the cells of a row that the caller has made his own. */
    static void clear(MemorySegment control, int row) {
        for (int cell = 0; cell < ControlLayout.CELLS; cell++) {
            ControlLayout.set(control, ControlLayout.cell(row, cell), 0);
        }
    }
}
