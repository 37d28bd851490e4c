package io.cassia.transfer.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The registered ranges of one engine: they never overlap, so that at most one of them can hold an
 * address. Guarded: changes take the lock and replace the sorted array; lookups read the array
 * without a lock.
 *
 * <p>A range that is being drained stays in the table until its last transfer has ended: its
 * addresses cannot be registered anew under a running transfer.
 */
public final class BufferTable {
    private static final Registration[] NONE = {};

    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final List<Registration> inOrder = new ArrayList<>();

    private volatile Registration[] sorted = NONE;

    /**
     * Adds a range. ERR_INVALID_ARGUMENT for no bytes, heap memory or memory that only one thread
     * may touch; ERR_ADDRESS_OVERLAPPED when any byte of it is registered.
     */
    public Outcome<Registration> add(
            MemorySegment memory, String location, boolean readable, boolean writable) {
        if (memory.byteSize() == 0 || memory.address() == 0) {
            return invalid("no bytes to register at 0x" + Long.toHexString(memory.address()));
        }
        if (!memory.isNative()) {
            return invalid("heap memory cannot be registered: allocate it in a shared arena");
        }
        if (!memory.isAccessibleBy(Thread.ofVirtual().unstarted(() -> {}))) {
            return invalid("memory of a confined arena cannot be registered: use a shared arena");
        }
        Registration added = new Registration(memory, location, readable, writable);
        lock.lock();
        try {
            Registration[] before = sorted;
            int at = floor(before, added.address()) + 1;
            if (at > 0 && touches(before[at - 1], added)) {
                return overlap(added, before[at - 1]);
            }
            if (at < before.length && touches(before[at], added)) {
                return overlap(added, before[at]);
            }
            Registration[] after = Arrays.copyOf(before, before.length + 1);
            System.arraycopy(before, at, after, at + 1, before.length - at);
            after[at] = added;
            sorted = after;
            inOrder.add(added);
            return Outcome.ok(added);
        } finally {
            lock.unlock();
        }
    }

    private static Outcome<Registration> invalid(String detail) {
        return Outcome.failed(TransferCode.ERR_INVALID_ARGUMENT, detail);
    }

    private static Outcome<Registration> overlap(Registration added, Registration present) {
        return Outcome.failed(
                TransferCode.ERR_ADDRESS_OVERLAPPED,
                "range %s overlaps the registered %s (%s); unregister that one first"
                        .formatted(added, present, present.state()));
    }

    private static boolean touches(Registration a, Registration b) {
        return Long.compareUnsigned(a.address(), b.lastAddress()) <= 0
                && Long.compareUnsigned(b.address(), a.lastAddress()) <= 0;
    }

    /** Index of the last range that starts at or below an address; -1 when there is none. */
    private static int floor(Registration[] ranges, long address) {
        int low = 0;
        int high = ranges.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (Long.compareUnsigned(ranges[middle].address(), address) <= 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return high;
    }

    /**
     * Finds the one range that holds [address, address + size) and keeps it for the caller, who
     * must {@link Registration#release} it. Null when a peer may not do this; {@link #why} tells.
     */
    public @Nullable Registration hold(long address, long sizeBytes, boolean write) {
        Registration range = find(address, sizeBytes);
        if (range == null || !(write ? range.writable() : range.readable())) {
            return null;
        }
        return range.tryHold() ? range : null;
    }

    private @Nullable Registration find(long address, long sizeBytes) {
        long last = address + sizeBytes - 1;
        if (sizeBytes == 0 || Long.compareUnsigned(last, address) < 0) {
            return null;
        }
        Registration[] ranges = sorted;
        int at = floor(ranges, address);
        if (at < 0 || Long.compareUnsigned(last, ranges[at].lastAddress()) > 0) {
            return null;
        }
        return ranges[at];
    }

    /** Why {@link #hold} refused, by the present content of the table. */
    public Rejection why(long address, long sizeBytes, boolean write) {
        if (sizeBytes == 0) {
            return Rejection.ZERO_SIZE;
        }
        if (Long.compareUnsigned(address + sizeBytes - 1, address) < 0) {
            return Rejection.WRAPS_AROUND;
        }
        Registration range = find(address, sizeBytes);
        if (range == null) {
            return find(address, 1) == null ? Rejection.NOT_REGISTERED : Rejection.CROSSES_END;
        }
        if (!range.readable()) {
            return Rejection.NOT_ACCESSIBLE;
        }
        return write && !range.writable() ? Rejection.READ_ONLY : Rejection.DRAINING;
    }

    /** All ranges that take transfers, in order of registration. */
    public List<Registration> registered() {
        lock.lock();
        try {
            return inOrder.stream()
                    .filter(r -> r.state() == Registration.State.REGISTERED)
                    .toList();
        } finally {
            lock.unlock();
        }
    }

    /** Whether any byte of the memory is registered or still in use by a transfer. */
    public boolean touches(MemorySegment memory) {
        long first = memory.address();
        long last = first + memory.byteSize() - 1;
        for (Registration range : sorted) {
            if (Long.compareUnsigned(range.address(), last) <= 0
                    && Long.compareUnsigned(first, range.lastAddress()) <= 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Stops new transfers on a range; once more is fine. ERR_ADDRESS_NOT_REGISTERED when it is not
     * in this table.
     */
    public Outcome<Done> drain(Registration range) {
        lock.lock();
        try {
            if (!inOrder.contains(range)) {
                return Outcome.failed(
                        TransferCode.ERR_ADDRESS_NOT_REGISTERED,
                        "range " + range + " is not registered with this engine");
            }
            range.drain();
            return Outcome.done();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for the transfers on a drained range; false when the time is over before. */
    public boolean awaitClosed(Registration range, long timeoutNanos) {
        return range.awaitClosed(timeoutNanos);
    }

    /** Forgets a range that no transfer uses. */
    public void remove(Registration range) {
        if (range.state() != Registration.State.CLOSED) {
            throw new IllegalStateException("range " + range + " is " + range.state());
        }
        lock.lock();
        try {
            if (inOrder.remove(range)) {
                Registration[] before = sorted;
                int at = floor(before, range.address());
                Registration[] after = Arrays.copyOf(before, before.length - 1);
                System.arraycopy(before, at + 1, after, at, before.length - at - 1);
                sorted = after;
            }
        } finally {
            lock.unlock();
        }
    }
}
