package io.cassia.store;

import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ClientStatus;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.PingResult;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a node known to its master: one ping a second on a thread of its own, and a re-mount of
 * everything when the master asks for it (spec mooncake-store 4.2). Confined to its thread after
 * {@link #start}.
 */
final class Heartbeat implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Heartbeat.class.getName());
    private static final Duration PERIOD = Duration.ofSeconds(1);
    private static final Duration PING_TIMEOUT = Duration.ofSeconds(3);

    private final MasterLink master;
    private final Uuid client;
    private final Supplier<List<Segment>> segments;
    private final Runnable forgotten;
    private final Clock clock;
    private final Counter failures;
    private final Counter remounts;
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().name("cassia-heartbeat").daemon().factory());
    private @Nullable ScheduledFuture<?> beating;
    private boolean failing;

    /**
     * @param segments what the master should know
     * @param forgotten run, on another thread, when the master has forgotten the node: it was
     *     restarted, and perhaps what runs beside it
     */
    Heartbeat(
            MasterLink master,
            Uuid client,
            Supplier<List<Segment>> segments,
            Runnable forgotten,
            Clock clock,
            MeterRegistry meters) {
        this.master = master;
        this.client = client;
        this.segments = segments;
        this.forgotten = forgotten;
        this.clock = clock;
        this.failures =
                Counter.builder("cassia_node_heartbeat_failures")
                        .description("Pings or re-mounts that failed")
                        .register(meters);
        this.remounts =
                Counter.builder("cassia_node_remounts")
                        .description("Re-mounts that the master asked for")
                        .register(meters);
    }

    /** Beats once in the calling thread, so that the node is known, and then every second. */
    Outcome<Done> start(Deadline deadline) {
        Outcome<Done> first = beat(deadline);
        if (first.isOk()) {
            long period = PERIOD.toMillis();
            beating =
                    thread.scheduleWithFixedDelay(
                            this::tick, period, period, TimeUnit.MILLISECONDS);
        }
        return first;
    }

    private void tick() {
        try {
            report(beat(Deadline.after(clock, PING_TIMEOUT)));
        } catch (RuntimeException bug) {
            // A heartbeat that dies takes the whole node's data with it: report and go on.
            failures.increment();
            LOG.log(Level.ERROR, "heartbeat broke client=" + client, bug);
        }
    }

    private Outcome<Done> beat(Deadline deadline) {
        return master.call(MasterMethods.PING, client, deadline)
                .then(ping -> answer(ping, deadline));
    }

    private Outcome<Done> answer(PingResult ping, Deadline deadline) {
        if (ping.clientStatus() != ClientStatus.NEED_REMOUNT.number()) {
            return Outcome.done();
        }
        remounts.increment();
        if (beating != null) {
            // A metadata store that does not answer must not make the node late with its pings.
            Thread.ofVirtual().name("cassia-republish").start(forgotten);
        }
        return master.call(
                MasterMethods.REMOUNT_SEGMENT,
                new Args.ReMountSegment(segments.get(), client),
                deadline);
    }

    /** One line when it starts to fail and one when it works again. */
    private void report(Outcome<Done> outcome) {
        if (outcome instanceof Outcome.Failed<Done> failed) {
            failures.increment();
            if (!failing) {
                failing = true;
                LOG.log(
                        Level.WARNING,
                        "heartbeat failing client={0} code={1} detail={2}",
                        client,
                        failed.code().label(),
                        failed.detail());
            }
        } else if (failing) {
            failing = false;
            LOG.log(Level.INFO, "heartbeat works again client={0}", client);
        }
    }

    @Override
    public void close() {
        if (beating != null) {
            beating.cancel(false);
        }
        thread.shutdown();
        try {
            if (!thread.awaitTermination(PING_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                thread.shutdownNow();
            }
        } catch (InterruptedException e) {
            thread.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
