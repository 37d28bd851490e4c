package io.cassia.transfer.transport.shm;

import io.cassia.transfer.memory.ProcessCalls;
import io.cassia.transfer.transport.Run;
import io.cassia.transfer.transport.Transfer;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * One call by which the kernel copies several pieces between this process and a peer. Confined to
 * the thread that has borrowed it.
 *
 * <pre>
 *   pieces:  head from its offset, next, next ...   all in one direction and one slot
 *   local    [address, length][address, length]...
 *   remote   [address, length][address, length]...
 * </pre>
 */
final class KernelCopy {
    /** So much in one call at most: the call cannot be stopped, and unregistering waits for it. */
    static final long MAX_BYTES = 4 << 20;

    private static final long PIECE_BYTES = 2 * Long.BYTES;

    private final ProcessCalls calls;
    private final MemorySegment state;
    private final MemorySegment local;
    private final MemorySegment remote;
    private final MemorySegment[] alive = new MemorySegment[ProcessCalls.MAX_ARENAS];
    private int arenas;
    private int pieces;
    private long bytes;

    KernelCopy(ProcessCalls calls) {
        this.calls = calls;
        Arena arena = Arena.ofAuto();
        this.state = arena.allocate(Linker.Option.captureStateLayout());
        this.local = arena.allocate(ProcessCalls.MAX_PIECES * PIECE_BYTES, Long.BYTES);
        this.remote = arena.allocate(ProcessCalls.MAX_PIECES * PIECE_BYTES, Long.BYTES);
    }

    /**
     * Copies what follows in a run, as much as one call may.
     *
     * @param headOffset bytes of the head that have been copied
     * @return bytes that were copied, or a negative error number
     */
    long carry(long pid, Run run, long headOffset, SlotIndex.Slot slot) {
        Transfer head = run.head();
        pieces = 0;
        bytes = 0;
        arenas = 0;
        boolean more = add(head, headOffset);
        for (int i = run.next() + 1; more && i < run.size(); i++) {
            Transfer transfer = run.get(i);
            more =
                    transfer.isWrite() == head.isWrite()
                            && slot.holds(transfer.remoteAddress(), transfer.lengthBytes())
                            && add(transfer, 0);
        }
        for (int i = arenas; i < alive.length; i++) {
            alive[i] = MemorySegment.NULL;
        }
        return calls.copy(head.isWrite(), pid, state, local, remote, pieces, alive);
    }

    /** Whether another piece may follow. */
    private boolean add(Transfer transfer, long offset) {
        MemorySegment memory = transfer.local();
        if (pieces == ProcessCalls.MAX_PIECES || bytes >= MAX_BYTES || !keepAlive(memory)) {
            return false;
        }
        long length = Math.min(transfer.lengthBytes() - offset, MAX_BYTES - bytes);
        put(local, memory.address() + offset, length);
        put(remote, transfer.remoteAddress() + offset, length);
        pieces++;
        bytes += length;
        return offset + length == transfer.lengthBytes();
    }

    private boolean keepAlive(MemorySegment memory) {
        for (int i = 0; i < arenas; i++) {
            if (alive[i].scope().equals(memory.scope())) {
                return true;
            }
        }
        if (arenas == alive.length) {
            return false;
        }
        alive[arenas++] = memory;
        return true;
    }

    private void put(MemorySegment table, long address, long length) {
        long at = pieces * PIECE_BYTES;
        table.set(ValueLayout.JAVA_LONG, at, address);
        table.set(ValueLayout.JAVA_LONG, at + Long.BYTES, length);
    }

    /** Lets go of the memory of the last call. */
    void forget() {
        for (int i = 0; i < alive.length; i++) {
            alive[i] = MemorySegment.NULL;
        }
    }
}
