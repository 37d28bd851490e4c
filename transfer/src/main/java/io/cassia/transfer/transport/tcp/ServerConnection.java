package io.cassia.transfer.transport.tcp;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.transfer.memory.Registration;
import io.cassia.transfer.net.Watchdog;
import io.cassia.transfer.net.Wire;
import io.cassia.transfer.transport.TransferMetrics;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One peer's data connection as the server sees it. Guarded: one thread runs it, others may ask
 * what it uses and end it.
 */
final class ServerConnection implements Runnable {
    private static final System.Logger LOG = System.getLogger(ServerConnection.class.getName());

    private final Wire wire;
    private final ServerContext context;
    private final TransferMetrics.Flows flows;
    private final Watchdog.Watch watch;
    private final Responses responses;
    private final AtomicBoolean aborted = new AtomicBoolean();
    private volatile @Nullable Registration bulk;

    ServerConnection(Wire wire, ServerContext context, TransferMetrics.Flows flows) {
        this.wire = wire;
        this.context = context;
        this.flows = flows;
        this.watch = context.watchdog().watch(this::abort);
        this.responses = new Responses(wire);
    }

    /** Answers requests until the peer closes or must be closed. */
    @Override
    public void run() {
        String reason = "";
        // Memory of this thread, free when the connection ends and not when the collector comes:
        // peers without a pool open one connection per request.
        try (Arena arena = Arena.ofConfined();
                wire;
                watch) {
            reason = new RequestLoop(this, context, responses, arena).serve();
        } catch (IOException e) {
            reason = watch.isExpired() ? "stalled" : "io";
            LOG.log(System.Logger.Level.DEBUG, "data-connection-lost reason={0}", reason, e);
        } catch (IllegalStateException | InternalError e) {
            // Registered memory was freed by its owner, or its file was cut: no byte of it goes
            // out.
            reason = "memory-gone";
            LOG.log(System.Logger.Level.WARNING, "registered-memory-gone", e);
        } finally {
            responses.release();
            if (!reason.isEmpty()) {
                context.metrics().serverClosed(reason);
            }
        }
    }

    Wire wire() {
        return wire;
    }

    /** What moves over connections of this kind. */
    TransferMetrics.Flows flows() {
        return flows;
    }

    /** Gives the peer time for the next call to move a byte. */
    void arm() {
        watch.arm(context.clock().nanos() + context.stallNanos());
    }

    /** Gives the peer all the time: nothing is asked of it. */
    void disarm() {
        watch.disarm();
    }

    /** Tells which range is used besides those that answers hold; null for none. */
    void uses(@Nullable Registration range) {
        bulk = range;
    }

    /** Whether a request on a range is under way; for any thread, and may be outdated. */
    boolean holds(Registration range) {
        return bulk == range || responses.holds(range);
    }

    /** Ends the connection at once, from any thread; false when somebody has done so before. */
    @CanIgnoreReturnValue
    boolean abort() {
        wire.reset();
        return aborted.compareAndSet(false, true);
    }
}
