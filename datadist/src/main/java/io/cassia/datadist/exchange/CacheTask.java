package io.cassia.datadist.exchange;

import io.cassia.base.Deadline;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A layer-wise push under way. Guarded. */
public final class CacheTask {
    private final List<@Nullable Outcome<Done>> results;
    private final CompletableFuture<List<Optional<Outcome<Done>>>> end = new CompletableFuture<>();

    CacheTask(int configs) {
        results = new ArrayList<>(configs);
        for (int i = 0; i < configs; i++) {
            results.add(null);
        }
    }

    /** On the task's thread only. */
    void set(int config, Outcome<Done> outcome) {
        results.set(config, outcome);
    }

    /** On the task's thread only. */
    void finish() {
        List<Optional<Outcome<Done>>> all = new ArrayList<>(results.size());
        for (Outcome<Done> one : results) {
            all.add(Optional.ofNullable(one));
        }
        boolean ignored = end.complete(List.copyOf(all));
    }

    /**
     * Waits for the end. The first failure in the order of the configurations, success when there
     * is none. {@code LLM_TIMEOUT} when the task has not ended by then: it goes on.
     */
    public Outcome<Done> synchronize(Duration timeout) {
        return await(timeout)
                .then(
                        all ->
                                all.stream()
                                        .flatMap(Optional::stream)
                                        .filter(one -> !one.isOk())
                                        .findFirst()
                                        .orElseGet(Outcome::done));
    }

    /**
     * Waits for the end. One result per configuration in their order, empty where none of its
     * layers was tried or not all were sent before the task ended. {@code LLM_TIMEOUT} as above.
     */
    public Outcome<List<Optional<Outcome<Done>>>> results(Duration timeout) {
        return await(timeout);
    }

    /** Completes with the results at the end. */
    public CompletableFuture<List<Optional<Outcome<Done>>>> future() {
        return end.copy();
    }

    private Outcome<List<Optional<Outcome<Done>>>> await(Duration timeout) {
        try {
            return Outcome.ok(end.get(Deadline.nanos(timeout), TimeUnit.NANOSECONDS));
        } catch (TimeoutException e) {
            return Outcome.failed(
                    LlmStatus.LLM_TIMEOUT,
                    "the task has not ended within %d ms; it goes on"
                            .formatted(timeout.toMillis()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Outcome.failed(LlmStatus.LLM_FAILED, "interrupted; the task goes on");
        } catch (ExecutionException e) {
            throw new IllegalStateException("tasks never complete exceptionally", e);
        }
    }
}
