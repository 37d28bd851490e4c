package io.cassia.transfer.transport.shm;

import io.cassia.transfer.transport.Route;
import io.cassia.transfer.transport.RouteReason;
import io.cassia.transfer.transport.Run;
import io.cassia.transfer.transport.Transport;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;

/**
 * To memory of another process of this host, without its help: by a copy where the memory is in a
 * shared file, by the kernel where it is not. Guarded.
 *
 * <p>What it cannot carry it passes, for another route; what the peer's control file refuses has
 * failed, as if the peer had refused it. Transfers that overlap are in the same buffer, and those
 * of one buffer are either all carried or all passed from one on, so they stay in order.
 */
public final class HostRoute implements Route {
    private static final System.Logger LOG = System.getLogger(HostRoute.class.getName());

    private final String peerName;
    private final PeerMemory peer;
    private final HostContext context;
    private final boolean mayMap;
    private final boolean mayAskKernel;
    // At most as many as the peer's control file has cells for this engine.
    private final ConcurrentLinkedDeque<KernelCopy> kernelCopies = new ConcurrentLinkedDeque<>();
    private volatile @Nullable String kernelRefusal;

    /**
     * A route.
     *
     * @param segment published name, for details of failures
     */
    HostRoute(String segment, PeerMemory peer, Set<Transport> transports, HostContext context) {
        this.peerName = "segment " + segment + " on this host";
        this.peer = peer;
        this.context = context;
        this.mayMap = transports.contains(Transport.SHM);
        this.mayAskKernel = transports.contains(Transport.PROCESS_VM);
    }

    /** Whether the peer's process or engine is gone, or this route was closed. */
    public boolean isLost() {
        return peer.isLost();
    }

    /** Whether it can copy in shared memory at all. */
    public boolean mayMap() {
        return mayMap;
    }

    /** Why the kernel does not copy for it: empty when it does, as far as one knows. */
    public String kernelRefusal() {
        String refusal = kernelRefusal;
        return refusal == null ? "" : refusal;
    }

    /** Whether it can ask the kernel to copy at all. */
    public boolean mayAskKernel() {
        return mayAskKernel;
    }

    /** Carries what it can; what is left in the run is for another route then. */
    @Override
    public void carry(Run run) {
        RouteReason _ = carryWhatItCan(run);
    }

    /** The same; why it has left something, which means nothing when it has not. */
    public RouteReason carryWhatItCan(Run run) {
        if (!peer.enter()) {
            return RouteReason.OWNER_GONE;
        }
        try {
            return new HostRun(this, run).carry();
        } finally {
            peer.leave();
        }
    }

    PeerMemory peer() {
        return peer;
    }

    HostContext context() {
        return context;
    }

    String peerName() {
        return peerName;
    }

    KernelCopy borrowKernelCopy() {
        KernelCopy idle = kernelCopies.poll();
        return idle != null ? idle : new KernelCopy(context.calls());
    }

    void giveBack(KernelCopy used) {
        used.forget();
        kernelCopies.push(used);
    }

    /** The kernel will not do it for this peer, whatever it is asked. */
    void refusedByKernel(String why) {
        if (kernelRefusal == null) {
            LOG.log(
                    System.Logger.Level.INFO,
                    "kernel-copies-refused peer=\"{0}\" cause=\"{1}\"",
                    peerName,
                    why);
        }
        kernelRefusal = why;
    }

    /** Lets go of what the peer has taken back. */
    void tidy() {
        peer.tidy();
    }

    @Override
    public void close() {
        peer.close();
    }
}
