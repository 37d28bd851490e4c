package io.cassia.transfer.metadata;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Waits for a client that has no deadline of its own. Immutable. */
public final class BoundedCall {
    private BoundedCall() {}

    /**
     * Runs a call on a thread of its own and waits for it. ERR_METADATA when it does not end in
     * time; it then goes on unwatched until the client's own timeouts end it.
     *
     * @param attempted what is done, for the detail
     */
    public static <T> Outcome<T> run(
            String attempted, Duration timeout, Supplier<Outcome<T>> call) {
        if (timeout.isNegative() || timeout.isZero()) {
            return Outcome.failed(TransferCode.ERR_METADATA, attempted + ": the deadline is over");
        }
        CompletableFuture<Outcome<T>> running = new CompletableFuture<>();
        Thread.ofVirtual()
                .name("cassia-metadata-call")
                .start(
                        () -> {
                            try {
                                running.complete(call.get());
                            } catch (RuntimeException | Error e) {
                                running.completeExceptionally(e);
                            }
                        });
        return await(attempted, timeout, running);
    }

    /**
     * A failure with its innermost cause, which alone tells addresses and system errors. Clients
     * that try several addresses keep their causes suppressed.
     */
    public static String describe(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null || cause.getSuppressed().length > 0) {
            cause = cause.getCause() != null ? cause.getCause() : cause.getSuppressed()[0];
        }
        return cause.equals(failure) ? failure.toString() : failure + " (" + cause + ")";
    }

    private static <T> Outcome<T> await(
            String attempted, Duration timeout, CompletableFuture<Outcome<T>> running) {
        try {
            return running.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return Outcome.failed(
                    TransferCode.ERR_METADATA,
                    "%s: no answer within %d ms; is the metadata store up?"
                            .formatted(attempted, timeout.toMillis()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Outcome.failed(TransferCode.ERR_METADATA, attempted + ": interrupted");
        } catch (ExecutionException e) {
            throw new IllegalStateException(attempted, e.getCause());
        }
    }
}
