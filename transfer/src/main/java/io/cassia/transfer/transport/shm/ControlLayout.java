package io.cassia.transfer.transport.shm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The control file, by which the processes of a host agree on who touches an engine's memory. The
 * owner of the memory makes it, every peer maps it. Immutable.
 *
 * <pre>
 *   0        magic                   32   phase: OPEN, CLOSED
 *   8        layout version          40   version: changes with each change of a slot
 *   16       process of the owner    48   slots ever used
 *   24       its pid namespace       56   buffers that found no slot
 *   64       secret, 32 bytes
 *
 *   4096     rows, 512 bytes each, one per engine that copies:
 *              0   its process: | pid : 22 | start in clock ticks since boot : 42 |, 0 when free
 *             64   56 cells: 0, or 1 + number of the slot that one copy is using now
 *
 *   135168   slots, 64 bytes each, one per published buffer:
 *              0   word: | generation : 56 | unused : 5 | writable : 1 | state : 2 |
 *              8   address        24   number of the shared file, 0 when it is in none
 *             16   length         32   offset in that file
 * </pre>
 *
 * <h2>States of a slot; only the owner changes them</h2>
 *
 * <pre>
 *   FREE ── register ──► REGISTERED ── unregister ──► DRAINING ── no cell names it ──► FREE
 *   (next generation)    copies may begin             none begins      ▲
 *                                                         │            │
 *                                                 too slow└─► ABORTING ┘
 *                                                             those under way stop
 * </pre>
 *
 * <h2>How a copy is kept apart from unregistering</h2>
 *
 * <pre>
 *   who copies                            who unregisters
 *   1  cell := slot + 1                   1  word := DRAINING
 *   2  word still as it was looked up?    2  does any cell name the slot?
 *      no:  cell := 0, refused               no:  nobody copies, nor will
 *      yes: copies                           yes: wait, and ask whether that process lives
 *   3  cell := 0
 * </pre>
 *
 * All of these accesses are volatile, and each side writes before it reads: so at least one of the
 * two sees the other. A cell belongs to a row and a row to a process, so what a killed process has
 * left in its cells is known to be void: nothing is waited for in vain, nothing is counted wrong.
 *
 * <h2>Rows</h2>
 *
 * <pre>
 *   0 ── compare-and-set ──► process ── lets go, cells all 0 ──► 0
 *                               │ has died
 *                               └── compare-and-set ──► another process, which clears the cells
 * </pre>
 *
 * Whoever takes the row of a dead process owns it before he touches the cells, so two can never
 * clear it at the same time.
 */
final class ControlLayout {
    static final long MAGIC = 0x0001_4149_5353_4143L;
    static final long VERSION = 1;

    static final long MAGIC_OFFSET = 0;
    static final long VERSION_OFFSET = 8;
    static final long PROCESS_OFFSET = 16;
    static final long NAMESPACE_OFFSET = 24;
    static final long PHASE_OFFSET = 32;
    static final long CHANGES_OFFSET = 40;
    static final long USED_OFFSET = 48;
    static final long UNSLOTTED_OFFSET = 56;
    static final long SECRET_OFFSET = 64;
    static final int SECRET_BYTES = 32;

    static final long OPEN = 1;
    static final long CLOSED = 2;

    static final long ROWS_OFFSET = 4096;
    static final int ROWS = 256;
    static final int ROW_BYTES = 512;
    static final int CELLS = 56;
    private static final int CELLS_IN_ROW_OFFSET = 64;

    static final long SLOTS_OFFSET = ROWS_OFFSET + (long) ROWS * ROW_BYTES;
    static final int SLOT_BYTES = 64;
    static final int SLOTS = 65_536;
    static final long LENGTH_BYTES = SLOTS_OFFSET + (long) SLOTS * SLOT_BYTES;

    /** Slots that have memory from the beginning; that of others is made present in steps. */
    static final int FIRST_SLOTS = 512;

    static final int SLOT_STEP = 512;

    static final int FREE = 0;
    static final int REGISTERED = 1;
    static final int DRAINING = 2;
    static final int ABORTING = 3;
    private static final long STATE_MASK = 3;
    private static final long WRITABLE = 1 << 2;
    private static final int GENERATION_SHIFT = 8;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private ControlLayout() {}

    static long get(MemorySegment control, long offset) {
        return (long) LONG.getVolatile(control, offset);
    }

    static void set(MemorySegment control, long offset, long value) {
        LONG.setVolatile(control, offset, value);
    }

    static boolean replace(MemorySegment control, long offset, long expected, long value) {
        return LONG.compareAndSet(control, offset, expected, value);
    }

    static long row(int row) {
        return ROWS_OFFSET + (long) row * ROW_BYTES;
    }

    static long cell(int row, int cell) {
        return row(row) + CELLS_IN_ROW_OFFSET + (long) cell * Long.BYTES;
    }

    static long slot(int slot) {
        return SLOTS_OFFSET + (long) slot * SLOT_BYTES;
    }

    static long word(long generation, int state, boolean writable) {
        return (generation << GENERATION_SHIFT) | (writable ? WRITABLE : 0) | state;
    }

    static int state(long word) {
        return (int) (word & STATE_MASK);
    }

    static long withState(long word, int state) {
        return (word & ~STATE_MASK) | state;
    }

    static boolean isWritable(long word) {
        return (word & WRITABLE) != 0;
    }

    static long generation(long word) {
        return word >>> GENERATION_SHIFT;
    }
}
