package io.cassia.transfer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Deadline;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Fragments on their way, each with an outcome of its own (spec 2.1). Guarded: any thread may wait
 * and look.
 *
 * <p>Fragments that break a rule, or are empty, have ended when the operation is handed out. Each
 * peer is opened on a thread of its own: one that cannot be reached delays only its own fragments.
 */
public final class ScatterOperation implements AutoCloseable {
    /** Position of a fragment. */
    private record Place(int range, int fragment) {}

    private final List<ScatterRange> ranges;
    private final Batch batch;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition over = lock.newCondition();
    private final CompletableFuture<Outcome<Done>> completion = new CompletableFuture<>();

    @GuardedBy("lock")
    private final List<List<@Nullable Outcome<Done>>> outcomes = new ArrayList<>();

    @GuardedBy("lock")
    private int running;

    @GuardedBy("lock")
    private Outcome<Done> broken = Outcome.done();

    private ScatterOperation(List<ScatterRange> ranges, Batch batch) {
        this.ranges = ranges;
        this.batch = batch;
        for (ScatterRange range : ranges) {
            running += range.fragments().size();
            outcomes.add(new ArrayList<>(Collections.nCopies(range.fragments().size(), null)));
        }
    }

    /** Opens a segment by name, until a moment. */
    interface Opener {
        Outcome<SegmentHandle> open(String segment, long deadlineNanos);
    }

    static ScatterOperation start(
            List<ScatterRange> ranges, Batch batch, Opener opener, long deadlineNanos) {
        ScatterOperation operation = new ScatterOperation(List.copyOf(ranges), batch);
        Map<String, List<Place>> bySegment = operation.endWhatNeedsNoPeer();
        bySegment.forEach(
                (segment, places) ->
                        Thread.ofVirtual()
                                .name("cassia-scatter")
                                .start(
                                        () ->
                                                operation.submit(
                                                        opener.open(segment, deadlineNanos),
                                                        places,
                                                        deadlineNanos)));
        if (bySegment.isEmpty()) {
            operation.finishIfOver();
        }
        return operation;
    }

    private Map<String, List<Place>> endWhatNeedsNoPeer() {
        Map<String, List<Place>> bySegment = new LinkedHashMap<>();
        for (int r = 0; r < ranges.size(); r++) {
            ScatterRange range = ranges.get(r);
            for (int f = 0; f < range.fragments().size(); f++) {
                Place place = new Place(r, f);
                ScatterRange.Fragment fragment = range.fragments().get(f);
                if (fragment.lengthBytes() == 0) {
                    end(place, Outcome.done());
                } else {
                    fragment.obstacle(range)
                            .ifPresentOrElse(
                                    why -> end(place, invalid(fragment, why)),
                                    () ->
                                            bySegment
                                                    .computeIfAbsent(
                                                            range.segment(), _ -> new ArrayList<>())
                                                    .add(place));
                }
            }
        }
        return bySegment;
    }

    private static Outcome<Done> invalid(ScatterRange.Fragment fragment, String why) {
        return Outcome.failed(TransferCode.ERR_INVALID_ARGUMENT, fragment + " " + why);
    }

    private void submit(Outcome<SegmentHandle> opened, List<Place> places, long deadlineNanos) {
        Outcome<Done> submitted =
                opened.then(
                        handle ->
                                batch.submit(
                                        places.stream().map(p -> request(p, handle)).toList(),
                                        deadlineNanos,
                                        i -> task -> end(places.get(i), task.outcome())));
        if (submitted instanceof Outcome.Failed<Done> failed) {
            places.forEach(place -> end(place, failed));
        }
    }

    private TransferRequest request(Place place, SegmentHandle handle) {
        ScatterRange range = ranges.get(place.range());
        ScatterRange.Fragment fragment = range.fragments().get(place.fragment());
        return new TransferRequest(
                range.opcode(),
                range.local().asSlice(fragment.localOffset(), fragment.lengthBytes()),
                handle,
                range.remoteAddress() + fragment.remoteOffset());
    }

    private void end(Place place, Outcome<Done> outcome) {
        Outcome<Done> told = tell(place, outcome);
        lock.lock();
        try {
            outcomes.get(place.range()).set(place.fragment(), outcome);
            if (broken.isOk()) {
                broken = told;
            }
            running--;
        } finally {
            lock.unlock();
        }
        finishIfOver();
    }

    /** A listener that fails must not take the lane, or other fragments, with it. */
    private Outcome<Done> tell(Place place, Outcome<Done> outcome) {
        try {
            ranges.get(place.range()).listener().ended(place.fragment(), outcome);
            return Outcome.done();
        } catch (RuntimeException e) {
            return Outcome.failed(
                    TransferCode.ERR_CONTEXT,
                    "the listener of fragment %d of range %d failed: %s"
                            .formatted(place.fragment(), place.range(), e));
        }
    }

    private void finishIfOver() {
        Outcome<Done> whole;
        lock.lock();
        try {
            if (running > 0) {
                return;
            }
            whole = whole();
            over.signalAll();
        } finally {
            lock.unlock();
        }
        if (!completion.isDone()) {
            Thread.ofVirtual().name("cassia-scatter").start(() -> complete(whole));
        }
    }

    private void complete(Outcome<Done> whole) {
        boolean _ = completion.complete(whole);
    }

    /** The first failure in the order of the fragments, then that of a listener. */
    @GuardedBy("lock")
    private Outcome<Done> whole() {
        for (List<@Nullable Outcome<Done>> range : outcomes) {
            for (Outcome<Done> outcome : range) {
                if (outcome instanceof Outcome.Failed<Done>) {
                    return outcome;
                }
            }
        }
        return broken;
    }

    /**
     * Waits until all fragments have ended, which each does at the deadline at the latest: the
     * first failure in their order, or success. A listener that threw makes it ERR_CONTEXT. An
     * interrupt does not end the wait, and is kept.
     */
    public Outcome<Done> await() {
        boolean interrupted = false;
        lock.lock();
        try {
            while (running > 0) {
                try {
                    over.await();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            return whole();
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * The same for a limited time. ERR_CLOCK when it is over before, or the thread was interrupted,
     * which it then still is: the fragments go on, and their memory must be left alone.
     */
    public Outcome<Done> await(Duration timeout) {
        lock.lock();
        try {
            long left = Deadline.nanos(timeout);
            while (running > 0) {
                if (left <= 0) {
                    return late(timeout);
                }
                left = over.awaitNanos(left);
            }
            return whole();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return late(timeout);
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private Outcome<Done> late(Duration timeout) {
        return Outcome.failed(
                TransferCode.ERR_CLOCK,
                "waited %d ms, and %d fragments have not ended"
                        .formatted(Deadline.nanos(timeout) / 1_000_000, running));
    }

    /** Completes, never exceptionally, with what {@link #await()} tells; on a thread of its own. */
    public CompletionStage<Outcome<Done>> completion() {
        return completion.minimalCompletionStage();
    }

    /**
     * One outcome per fragment, by range.
     *
     * @throws IllegalStateException before all have ended
     */
    public List<List<Outcome<Done>>> outcomes() {
        lock.lock();
        try {
            if (running > 0) {
                throw new IllegalStateException(running + " fragments have not ended");
            }
            List<List<Outcome<Done>>> all = new ArrayList<>();
            for (List<@Nullable Outcome<Done>> range : outcomes) {
                List<Outcome<Done>> copy = new ArrayList<>();
                for (Outcome<Done> outcome : range) {
                    if (outcome != null) {
                        copy.add(outcome);
                    }
                }
                all.add(copy);
            }
            return all;
        } finally {
            lock.unlock();
        }
    }

    /** Waits for all fragments. */
    @Override
    public void close() {
        Outcome<Done> _ = await();
        batch.close();
    }
}
