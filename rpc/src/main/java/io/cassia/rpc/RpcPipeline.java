package io.cassia.rpc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.status.Outcome;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps many requests of one method in flight from one thread, with one write for all that were
 * added since the last one. Confined to the thread that made it.
 *
 * <pre>{@code
 * RpcPipeline<Args.Key, Outcome<Boolean>> pipeline = client.pipeline(EXIST_KEY, 64, timeout);
 * while (more) {
 *     while (more && !pipeline.isFull()) {
 *         pipeline.add(next());
 *     }
 *     pipeline.drain(this::handle);
 * }
 * }</pre>
 *
 * Answers come in the order of the requests. A request that cannot be sent gives a failed answer in
 * its place; after a lost connection the next request connects anew.
 */
public final class RpcPipeline<A, R> {
    private final RpcClient client;
    private final RpcMethod<A, R> method;
    private final int depth;
    private final Duration timeout;
    private final Waiter waiter = new Waiter(Thread.currentThread());
    private final ArrayDeque<PipelineCall<R>> inFlight = new ArrayDeque<>();

    /** Where requests may wait to be sent. */
    private @Nullable ClientConnection held;

    RpcPipeline(RpcClient client, RpcMethod<A, R> method, int depth, Duration timeout) {
        if (depth < 1) {
            throw new IllegalArgumentException("depth " + depth);
        }
        this.client = client;
        this.method = method;
        this.depth = depth;
        this.timeout = timeout;
    }

    /** Requests without a delivered answer. */
    public int inFlight() {
        return inFlight.size();
    }

    public boolean isFull() {
        return inFlight.size() >= depth;
    }

    /**
     * Queues a request. It leaves with the next {@link #drain}, or earlier.
     *
     * @throws IllegalStateException if the pipeline is full
     */
    public void add(A arguments) {
        if (isFull()) {
            throw new IllegalStateException(depth + " requests are in flight already");
        }
        PipelineCall<R> call = new PipelineCall<>(method, client.deadline(timeout), waiter);
        boolean sent = client.send(call, method, arguments, Attachment.NONE, true);
        // Not before: arguments that cannot be encoded have thrown, and no answer will come.
        inFlight.add(call);
        if (sent) {
            held = call.connection();
        }
    }

    /**
     * Sends what is queued, waits for the oldest answer, and hands it and all that follow it
     * without a gap to the sink.
     *
     * @return how many answers that were; 0 only if nothing was in flight
     */
    @CanIgnoreReturnValue
    public int drain(Consumer<? super Outcome<R>> sink) {
        PipelineCall<R> oldest = inFlight.peek();
        if (oldest == null) {
            return 0;
        }
        awaitEnd(oldest);
        int delivered = 0;
        while (oldest != null && oldest.isDone()) {
            PipelineCall<R> ended = inFlight.remove();
            delivered++;
            sink.accept(ended.outcome());
            oldest = inFlight.peek();
        }
        return delivered;
    }

    private void awaitEnd(PipelineCall<R> call) {
        if (held != null) {
            held.flush();
            held = null;
        }
        while (true) {
            // Before the look at the call, so that an end in between is noticed.
            waiter.again();
            if (call.isDone()) {
                return;
            }
            call.connection().awaitEnd(call, waiter);
        }
    }
}
