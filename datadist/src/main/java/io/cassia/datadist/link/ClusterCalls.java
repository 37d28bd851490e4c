package io.cassia.datadist.link;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/** Immutable. Does one thing with several clusters at once, and ends in time. */
final class ClusterCalls {
    private static final System.Logger LOG = System.getLogger(ClusterCalls.class.getName());

    /** What a cluster may need to come to its end after the deadline has cut its connection. */
    private static final Duration OVERRUN = Duration.ofMillis(150);

    private final LinkTable table;
    private final Clock clock;

    ClusterCalls(LinkTable table, Clock clock) {
        this.table = table;
        this.clock = clock;
    }

    /** What is done with each cluster. */
    interface One {
        Outcome<Done> run(ClusterInfo cluster, long deadlineNanos);
    }

    /**
     * One outcome per cluster in their order; a cluster that stands twice is refused from then on.
     */
    List<Outcome<Done>> run(
            List<ClusterInfo> clusters,
            Function<ClusterInfo, Outcome<Done>> check,
            One one,
            long deadlineNanos) {
        Set<Long> seen = new HashSet<>();
        List<CompletableFuture<Outcome<Done>>> running = new ArrayList<>();
        for (ClusterInfo cluster : clusters) {
            Outcome<Done> checked =
                    seen.add(cluster.remoteClusterId()) ? check.apply(cluster) : twice(cluster);
            CompletableFuture<Outcome<Done>> future = new CompletableFuture<>();
            running.add(future);
            if (checked.isOk()) {
                Thread.startVirtualThread(
                        () -> future.complete(guarded(cluster, one, deadlineNanos)));
            } else {
                future.complete(checked);
            }
        }
        List<Outcome<Done>> entries = new ArrayList<>();
        for (int i = 0; i < running.size(); i++) {
            entries.add(await(running.get(i), clusters.get(i), deadlineNanos));
        }
        return entries;
    }

    private static Outcome<Done> twice(ClusterInfo cluster) {
        return Outcome.failed(
                LlmStatus.LLM_PARAM_INVALID,
                cluster + " stands twice in one call (upstream: 0x5010B003 REPEAT_REQUEST)");
    }

    private static Outcome<Done> guarded(ClusterInfo cluster, One one, long deadlineNanos) {
        try {
            return one.run(cluster, deadlineNanos);
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "link-call failed cluster=" + cluster, e);
            return Outcome.failed(LlmStatus.LLM_FAILED, cluster + ": unexpected: " + e);
        }
    }

    private Outcome<Done> await(
            CompletableFuture<Outcome<Done>> future, ClusterInfo cluster, long deadlineNanos) {
        try {
            long left = deadlineNanos + OVERRUN.toNanos() - clock.nanos();
            return future.get(Math.max(1, left), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            abandon(cluster);
            return Outcome.failed(
                    LlmStatus.LLM_TIMEOUT, cluster + " did not come to an end in time");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            abandon(cluster);
            return Outcome.failed(LlmStatus.LLM_FAILED, cluster + ": interrupted");
        } catch (ExecutionException e) {
            throw new IllegalStateException("entries never complete exceptionally", e);
        }
    }

    private void abandon(ClusterInfo cluster) {
        Link link = table.find(cluster.remoteClusterId());
        if (link != null && link.state() == LinkState.CONNECTING) {
            table.remove(link);
            link.retire(Outcome.failed(LlmStatus.LLM_TIMEOUT, "the call has ended"));
        }
    }
}
