package io.cassia.transfer.transport.shm;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a peer that were REGISTERED at one moment, sorted by address. Immutable. What it
 * says about a slot holds as long as the slot's word is the same.
 */
final class SlotIndex {
    /**
     * One buffer of the peer. Immutable.
     *
     * @param word of the slot when it was read
     * @param address unsigned
     * @param file number of the shared file; 0 when it is in none
     * @param offset in that file
     */
    record Slot(int number, long word, long address, long lengthBytes, long file, long offset) {
        boolean isWritable() {
            return ControlLayout.isWritable(word);
        }

        /** Whether it holds [at, at + size), of which the end does not pass that of all numbers. */
        boolean holds(long at, long sizeBytes) {
            long from = at - address;
            return Long.compareUnsigned(at, address) >= 0
                    && Long.compareUnsigned(from, lengthBytes) < 0
                    && Long.compareUnsigned(sizeBytes, lengthBytes - from) <= 0;
        }
    }

    private final Slot[] slots;
    private final long changes;
    private final boolean complete;

    private SlotIndex(Slot[] slots, long changes, boolean complete) {
        this.slots = slots;
        this.changes = changes;
        this.complete = complete;
    }

    /** Reads all slots of a control file. */
    static SlotIndex read(MemorySegment control) {
        // First: whatever changes while the slots are read makes this index outdated.
        long changes = ControlLayout.get(control, ControlLayout.CHANGES_OFFSET);
        long unslotted = ControlLayout.get(control, ControlLayout.UNSLOTTED_OFFSET);
        long used = ControlLayout.get(control, ControlLayout.USED_OFFSET);
        int count = Math.clamp(used, 0, ControlLayout.SLOTS);
        List<Slot> found = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            Slot slot = read(control, number);
            if (slot != null) {
                found.add(slot);
            }
        }
        found.sort(Comparator.comparing(Slot::address, Long::compareUnsigned));
        return new SlotIndex(found.toArray(Slot[]::new), changes, unslotted == 0);
    }

    private static @Nullable Slot read(MemorySegment control, int number) {
        long at = ControlLayout.slot(number);
        long word = ControlLayout.get(control, at);
        if (ControlLayout.state(word) != ControlLayout.REGISTERED) {
            return null;
        }
        Slot slot =
                new Slot(
                        number,
                        word,
                        ControlLayout.get(control, at + 8),
                        ControlLayout.get(control, at + 16),
                        ControlLayout.get(control, at + 24),
                        ControlLayout.get(control, at + 32));
        // Unchanged: then all of it belongs to this word.
        return ControlLayout.get(control, at) == word ? slot : null;
    }

    /** Whether the owner has not changed anything since. */
    boolean isCurrent(MemorySegment control) {
        return ControlLayout.get(control, ControlLayout.CHANGES_OFFSET) == changes;
    }

    /** Whether all buffers of the peer have slots. */
    boolean isComplete() {
        return complete;
    }

    /** The slot that holds a range, null when none does. */
    @Nullable Slot find(long address, long sizeBytes) {
        int low = 0;
        int high = slots.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (Long.compareUnsigned(slots[middle].address(), address) <= 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return high >= 0 && slots[high].holds(address, sizeBytes) ? slots[high] : null;
    }

    /** Numbers of all shared files that the slots are in. */
    Set<Long> files() {
        Set<Long> files = new HashSet<>();
        for (Slot slot : slots) {
            files.add(slot.file());
        }
        return files;
    }
}
