package io.cassia.transfer.transport.shm;

import io.cassia.status.TransferCode;
import io.cassia.transfer.memory.ProcessCalls;
import io.cassia.transfer.transport.RouteReason;
import io.cassia.transfer.transport.Run;
import io.cassia.transfer.transport.Transfer;
import io.cassia.transfer.transport.TransferMetrics;
import io.cassia.transfer.transport.Transport;
import java.lang.foreign.MemorySegment;

/**
 * One run over a {@link HostRoute}. Confined to the thread that carries it.
 *
 * <p>The kernel's calls name the peer by its process id. That it still means the peer is looked at
 * just before; a process that is stopped between the two until all ids have been given out once
 * would meet another process of the same user. There is no call that takes a descriptor instead.
 */
final class HostRun {
    /**
     * Between two looks at whether a copy must stop: a process that was stopped in a WRITE and goes
     * on after its deadline writes so much at most. Smaller steps would be slower: the JDK's copy
     * goes around the cache from some size on.
     */
    private static final long STEP_BYTES = 4 << 20;

    /** So many bytes are copied before the clock and the owner are looked at again. */
    private static final long LOOK_BYTES = 256 << 10;

    /** How often a slot may change between being found and being entered. */
    private static final int MAX_LOOKUPS = 4;

    private final HostRoute route;
    private final PeerMemory peer;
    private final Run run;
    private final Tally mapped = new Tally();
    private final Tally byKernel = new Tally();
    private long sinceLookBytes = LOOK_BYTES;
    private RouteReason left = RouteReason.PREFERRED;
    private RouteReason whyKernel = RouteReason.NOT_ALLOWED;

    /** What was completed over one transport. */
    private static final class Tally {
        private long reads;
        private long readBytes;
        private long writes;
        private long writeBytes;

        void add(Transfer transfer) {
            if (transfer.isWrite()) {
                writes++;
                writeBytes += transfer.lengthBytes();
            } else {
                reads++;
                readBytes += transfer.lengthBytes();
            }
        }

        void count(TransferMetrics metrics, Transport transport, RouteReason reason) {
            if (reads + writes > 0) {
                metrics.client(transport).read().add(reads, readBytes);
                metrics.client(transport).write().add(writes, writeBytes);
                metrics.routed(transport, reason, reads + writes);
            }
        }
    }

    HostRun(HostRoute route, Run run) {
        this.route = route;
        this.peer = route.peer();
        this.run = run;
    }

    /** Carries what can be carried; why something is left, if it is. */
    RouteReason carry() {
        try {
            boolean goesOn = true;
            while (goesOn && !run.isDone()) {
                goesOn = carryHead();
            }
        } finally {
            run.resume();
            mapped.count(route.context().metrics(), Transport.SHM, RouteReason.PREFERRED);
            byKernel.count(route.context().metrics(), Transport.PROCESS_VM, whyKernel);
        }
        return left;
    }

    /**
     * Carries, refuses or passes the head, and perhaps those behind it; false when the rest of the
     * run is for another route.
     */
    private boolean carryHead() {
        Transfer head = run.head();
        for (int i = 0; i < MAX_LOOKUPS; i++) {
            SlotIndex.Slot slot = peer.find(head.remoteAddress(), head.lengthBytes());
            if (slot == null) {
                return missing();
            }
            if (head.isWrite() && !slot.isWritable()) {
                return refuse("peers may not do this with the buffer");
            }
            PeerRegion region = route.mayMap() ? peer.region(slot) : null;
            if (region == null && !mayAskKernel(slot)) {
                run.passHead();
                return true;
            }
            int cell = peer.holds().enter(slot.number(), slot.word());
            if (cell == Holds.FULL) {
                left = RouteReason.CROWDED;
                return false;
            }
            if (cell != Holds.STALE) {
                try {
                    return region != null ? carryMapped(slot, region) : carryByKernel(slot);
                } finally {
                    peer.holds().leave(cell);
                }
            }
        }
        return refuse("the buffer is being unregistered");
    }

    private boolean missing() {
        // An engine that ends takes its buffers back, too.
        sinceLookBytes = LOOK_BYTES;
        if (!mayGoOn()) {
            return left != RouteReason.OWNER_GONE;
        }
        if (peer.mayHoldMore()) {
            left = RouteReason.NO_SLOT;
            run.passHead();
            return true;
        }
        return refuse("no registered buffer holds this range");
    }

    /** As if the peer had rejected the head. */
    private boolean refuse(String why) {
        run.failHead(
                TransferCode.ERR_ADDRESS_NOT_REGISTERED,
                "rejected by " + route.peerName() + ": " + why,
                false);
        return true;
    }

    private boolean mayAskKernel(SlotIndex.Slot slot) {
        RouteReason unmapped =
                slot.file() == 0 ? RouteReason.FOREIGN_MEMORY : RouteReason.UNMAPPABLE;
        whyKernel = route.mayMap() ? unmapped : RouteReason.NOT_ALLOWED;
        boolean refused = !route.kernelRefusal().isEmpty();
        left = refused ? RouteReason.KERNEL_REFUSED : whyKernel;
        return route.mayAskKernel() && !refused;
    }

    /** Whether the head may begin under the hold of a slot; if not, it is looked up anew. */
    private boolean isIn(SlotIndex.Slot slot) {
        Transfer head = run.head();
        return slot.holds(head.remoteAddress(), head.lengthBytes())
                && (!head.isWrite() || slot.isWritable())
                && peer.holds().word(slot.number()) == slot.word();
    }

    /** Whether the head is wanted in time and its owner lives; if not, it may have ended. */
    private boolean mayGoOn() {
        if (run.head().isUnwanted()) {
            run.endUnwanted();
            return false;
        }
        if (sinceLookBytes < LOOK_BYTES) {
            return true;
        }
        sinceLookBytes = 0;
        long now = route.context().clock().nanos();
        if (run.head().deadlineNanos() - now <= 0) {
            run.failHead(
                    TransferCode.ERR_SOCKET, route.peerName() + ": the deadline is over", true);
            return false;
        }
        if (peer.isLost() || !peer.isOwnerThere(now)) {
            peer.close();
            left = RouteReason.OWNER_GONE;
            return false;
        }
        return true;
    }

    private boolean isAborted(SlotIndex.Slot slot) {
        int state = ControlLayout.state(peer.holds().word(slot.number()));
        return state == ControlLayout.ABORTING;
    }

    /** Those in one slot, by copies; false when the rest of the run is for another route. */
    private boolean carryMapped(SlotIndex.Slot slot, PeerRegion region) {
        if (!region.enter()) {
            // Unmapped by another thread that has seen it go; the slot will be looked up anew.
            return true;
        }
        try {
            while (!run.isDone() && isIn(slot)) {
                if (!mayGoOn()) {
                    return left != RouteReason.OWNER_GONE;
                }
                if (!copyHead(slot, region.memory())) {
                    return left != RouteReason.OWNER_GONE && left != RouteReason.FAULT;
                }
            }
            return true;
        } finally {
            region.leave();
        }
    }

    /** False when the head was not completed. */
    private boolean copyHead(SlotIndex.Slot slot, MemorySegment region) {
        Transfer head = run.head();
        long length = head.lengthBytes();
        long base = slot.offset() + (head.remoteAddress() - slot.address());
        try {
            for (long at = 0; at < length; at += STEP_BYTES) {
                if (at > 0 && (isStopped(slot) || !mayGoOn())) {
                    return false;
                }
                long step = Math.min(STEP_BYTES, length - at);
                if (head.isWrite()) {
                    MemorySegment.copy(head.local(), at, region, base + at, step);
                } else {
                    MemorySegment.copy(region, base + at, head.local(), at, step);
                }
                sinceLookBytes += step;
            }
        } catch (IllegalStateException e) {
            if (head.local().scope().isAlive()) {
                throw e;
            }
            run.failHead(TransferCode.ERR_INVALID_ARGUMENT, "local memory was freed: " + e, false);
            return false;
        } catch (InternalError e) {
            // The JDK's word for memory without a file behind it: the owner has cut it.
            left = RouteReason.FAULT;
            return false;
        }
        mapped.add(head);
        run.completeHead();
        return true;
    }

    private boolean isStopped(SlotIndex.Slot slot) {
        if (!isAborted(slot)) {
            return false;
        }
        boolean _ = refuse("the buffer was unregistered before the copy had ended");
        return true;
    }

    /** Those in one slot, by the kernel; false when the rest of the run is for another route. */
    private boolean carryByKernel(SlotIndex.Slot slot) {
        KernelCopy kernel = route.borrowKernelCopy();
        long offset = 0;
        try {
            while (!run.isDone() && (offset > 0 || isIn(slot))) {
                if (offset > 0 && isStopped(slot)) {
                    return true;
                }
                if (!mayGoOn()) {
                    return left != RouteReason.OWNER_GONE;
                }
                long result = kernel.carry(peer.pid(), run, offset, slot);
                if (result <= 0) {
                    return failed(-result);
                }
                sinceLookBytes += result;
                offset = advance(offset + result);
            }
            return true;
        } catch (IllegalStateException e) {
            if (!run.failFreed(TransferCode.ERR_INVALID_ARGUMENT, "local memory was freed: " + e)) {
                throw e;
            }
            return true;
        } finally {
            route.giveBack(kernel);
        }
    }

    /** Ends those that are copied whole; the bytes of the next that are copied. */
    private long advance(long copied) {
        long rest = copied;
        while (!run.isDone() && rest >= run.head().lengthBytes()) {
            rest -= run.head().lengthBytes();
            byKernel.add(run.head());
            run.completeHead();
        }
        return rest;
    }

    private boolean failed(long errno) {
        return switch ((int) errno) {
            case ProcessCalls.ESRCH -> {
                peer.close();
                left = RouteReason.OWNER_GONE;
                yield false;
            }
            case 0, ProcessCalls.EFAULT, ProcessCalls.ENOMEM, ProcessCalls.EINTR -> {
                // The memory is not there, or not now: the owner itself must say so.
                left = RouteReason.FAULT;
                yield false;
            }
            default -> {
                route.refusedByKernel(ProcessCalls.text(errno));
                left = RouteReason.KERNEL_REFUSED;
                run.passHead();
                yield true;
            }
        };
    }
}
