package io.cassia.transfer.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
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
    private final Set<Registration> inOrder = new LinkedHashSet<>();

    private volatile Registration[] sorted = NONE;

    /**
     * A range that shall be registered. Immutable.
     *
     * @param lent the file of another program that it is in; null for memory that stays
     * @param location where the memory lives
     * @param readable whether peers see it
     * @param writable whether peers may also write to it
     */
    public record Wish(
            MemorySegment memory,
            @Nullable LentFile lent,
            String location,
            boolean readable,
            boolean writable) {}

    /**
     * Adds a range. ERR_INVALID_ARGUMENT for no bytes, heap memory or memory that only one thread
     * may touch; ERR_ADDRESS_OVERLAPPED when any byte of it is registered.
     */
    public Outcome<Registration> add(
            MemorySegment memory, String location, boolean readable, boolean writable) {
        return addAll(List.of(new Wish(memory, null, location, readable, writable)))
                .map(List::getFirst);
    }

    /** Adds all ranges or none, in their order; they must not overlap each other either. */
    public Outcome<List<Registration>> addAll(List<Wish> wishes) {
        List<Registration> added = new ArrayList<>(wishes.size());
        for (Wish wish : wishes) {
            Optional<String> why = obstacle(wish.memory());
            if (why.isPresent()) {
                return Outcome.failed(TransferCode.ERR_INVALID_ARGUMENT, why.get());
            }
            added.add(
                    new Registration(
                            wish.memory(),
                            wish.lent(),
                            wish.location(),
                            wish.readable(),
                            wish.writable()));
        }
        lock.lock();
        try {
            Registration[] before = sorted;
            Registration[] after = Arrays.copyOf(before, before.length + added.size());
            for (int i = 0; i < added.size(); i++) {
                after[before.length + i] = added.get(i);
            }
            Arrays.sort(after, (a, b) -> Long.compareUnsigned(a.address(), b.address()));
            for (int i = 1; i < after.length; i++) {
                if (touches(after[i - 1], after[i])) {
                    return overlap(after[i - 1], after[i]);
                }
            }
            sorted = after;
            inOrder.addAll(added);
            return Outcome.ok(added);
        } finally {
            lock.unlock();
        }
    }

    private static Optional<String> obstacle(MemorySegment memory) {
        if (!memory.isNative()) {
            return Optional.of("heap memory cannot be registered: allocate it in a shared arena");
        }
        if (memory.byteSize() == 0 || memory.address() == 0) {
            return Optional.of("no bytes to register at 0x" + Long.toHexString(memory.address()));
        }
        if (!memory.isAccessibleBy(Thread.ofVirtual().unstarted(() -> {}))) {
            return Optional.of(
                    "memory of a confined arena cannot be registered: use a shared arena");
        }
        return Optional.empty();
    }

    @GuardedBy("lock")
    private Outcome<List<Registration>> overlap(Registration a, Registration b) {
        return Outcome.failed(
                TransferCode.ERR_ADDRESS_OVERLAPPED,
                "%s overlaps %s; unregister what is registered first, and register no byte twice"
                        .formatted(standing(a), standing(b)));
    }

    @GuardedBy("lock")
    private String standing(Registration range) {
        return "range %s (%s)"
                .formatted(range, inOrder.contains(range) ? range.state() : "of this call");
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

    /** The range that starts exactly at an address, unless it is being drained. */
    public Optional<Registration> startingAt(long address) {
        Registration[] ranges = sorted;
        int at = floor(ranges, address);
        return at >= 0
                        && ranges[at].address() == address
                        && ranges[at].state() == Registration.State.REGISTERED
                ? Optional.of(ranges[at])
                : Optional.empty();
    }

    /** Whether any byte of the memory is registered or still in use by a transfer. */
    public boolean touches(MemorySegment memory) {
        long first = memory.address();
        long last = first + memory.byteSize() - 1;
        Registration[] ranges = sorted;
        int at = floor(ranges, last);
        // Ranges do not overlap, so the last one that starts before the end decides.
        return at >= 0 && Long.compareUnsigned(first, ranges[at].lastAddress()) <= 0;
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
