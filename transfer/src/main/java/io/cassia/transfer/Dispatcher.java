package io.cassia.transfer;

import io.cassia.base.Deadline;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.transport.Run;
import io.cassia.transfer.transport.Transfer;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Takes requests apart by segment and sees to it that each is carried: on the caller's thread as
 * far as possible, on others where waiting for one peer would delay another. Guarded: holds no
 * state.
 */
final class Dispatcher {
    private final EngineParts parts;
    private final SegmentTable segments;
    private final Striping striping;

    // Asked whether segments are shared between threads; never started.
    private final Thread somebodyElse = Thread.ofVirtual().unstarted(() -> {});

    Dispatcher(EngineParts parts, SegmentTable segments) {
        this.parts = parts;
        this.segments = segments;
        this.striping = Striping.of(parts.config());
    }

    /** Transfers of one segment, in order of their requests. */
    private record Group(Segment segment, List<Transfer> transfers) {}

    /** Tells the caller how far one of his requests is. Immutable. */
    private record Watched(int request, Progress progress) implements Transfer.Listener {
        @Override
        public void ended(Transfer transfer) {
            // The caller learns it from the outcome.
        }

        @Override
        public void reached(Transfer transfer, long bytes) {
            progress.reached(request, bytes);
        }
    }

    /**
     * Carries all requests; each has ended on return, and nobody touches their memory any more.
     *
     * @param progress told how far each is; null when nobody wants to know
     */
    List<Outcome<Done>> transfer(
            List<TransferRequest> requests, Duration timeout, @Nullable Progress progress) {
        long deadline = deadline(timeout);
        Transfer[] all = new Transfer[requests.size()];
        for (int i = 0; i < all.length; i++) {
            Transfer.Listener listener = progress == null ? null : new Watched(i, progress);
            all[i] = transferOf(requests.get(i), deadline, listener);
        }
        Group only = sameSegment(requests, all);
        if (only != null) {
            carry(only, deadline);
        } else {
            carryGroups(requests, all, deadline);
        }
        List<Outcome<Done>> outcomes = new ArrayList<>(all.length);
        for (Transfer transfer : all) {
            Outcome<Done> outcome = transfer.outcome();
            if (outcome instanceof Outcome.Failed<Done> failed) {
                parts.metrics().failed(failed.code());
            }
            outcomes.add(outcome);
        }
        return outcomes;
    }

    /** The moment on the engine's clock so far from now. */
    long deadline(Duration timeout) {
        return Deadline.after(parts.clock(), timeout).atNanos();
    }

    /** The usual case: one known segment, nothing empty; null otherwise. */
    private @Nullable Group sameSegment(List<TransferRequest> requests, Transfer[] all) {
        if (requests.isEmpty()) {
            return null;
        }
        SegmentHandle target = requests.getFirst().target();
        Segment segment = segments.find(target);
        if (segment == null) {
            return null;
        }
        for (TransferRequest request : requests) {
            if (request.lengthBytes() == 0 || !request.target().equals(target)) {
                return null;
            }
        }
        return new Group(segment, List.of(all));
    }

    private static Transfer transferOf(
            TransferRequest request, long deadline, Transfer.@Nullable Listener listener) {
        return new Transfer(
                request.opcode() == Opcode.WRITE,
                request.local(),
                request.targetAddress(),
                deadline,
                listener);
    }

    /** On the caller's thread, with help for large amounts. */
    private void carry(Group group, long deadline) {
        List<List<Transfer>> stripes = striping.cut(group.transfers(), this::isShared, deadline);
        if (stripes.isEmpty()) {
            group.segment().carry(started(group.transfers()));
            return;
        }
        List<Runnable> others = new ArrayList<>();
        for (List<Transfer> stripe : stripes.subList(1, stripes.size())) {
            others.add(() -> group.segment().carry(started(stripe)));
        }
        carryTogether(others, () -> group.segment().carry(started(stripes.getFirst())));
        striping.join(group.transfers(), stripes);
    }

    private static Run started(List<Transfer> transfers) {
        for (Transfer transfer : transfers) {
            if (!transfer.tryStart()) {
                throw new IllegalStateException("started already");
            }
        }
        return new Run(transfers);
    }

    /** The general case: several segments, unknown ones, empty requests. */
    private void carryGroups(List<TransferRequest> requests, Transfer[] all, long deadline) {
        Map<Segment, List<Transfer>> bySegment = new LinkedHashMap<>();
        for (int i = 0; i < all.length; i++) {
            TransferRequest request = requests.get(i);
            Transfer transfer = all[i];
            Segment segment = segments.find(request.target());
            if (segment == null) {
                boolean _ =
                        transfer.cancel(TransferCode.ERR_INVALID_ARGUMENT, unknown(request), false);
            } else if (request.lengthBytes() == 0) {
                endEmpty(transfer);
            } else {
                bySegment.computeIfAbsent(segment, _ -> new ArrayList<>()).add(transfer);
            }
        }
        List<Runnable> mine = new ArrayList<>();
        List<Runnable> others = new ArrayList<>();
        bySegment.forEach(
                (segment, transfers) -> {
                    // Memory of the calling thread alone can be moved by that thread alone.
                    boolean here = mine.isEmpty() || !transfers.stream().allMatch(this::isShared);
                    (here ? mine : others)
                            .add(() -> carry(new Group(segment, transfers), deadline));
                });
        carryTogether(others, () -> mine.forEach(Runnable::run));
    }

    /**
     * Runs the others' work on other threads and mine on this one, and waits for all. The wait has
     * no deadline of its own: each part has one, and only when it has let go of its memory may the
     * caller have it back. An interrupt is kept for later.
     */
    private void carryTogether(List<Runnable> others, Runnable mine) {
        CountDownLatch running = new CountDownLatch(others.size());
        for (Runnable other : others) {
            parts.runners()
                    .execute(
                            () -> {
                                try {
                                    other.run();
                                } finally {
                                    running.countDown();
                                }
                            });
        }
        boolean interrupted = false;
        try {
            mine.run();
        } finally {
            while (true) {
                try {
                    running.await();
                    break;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static String unknown(TransferRequest request) {
        return "segment " + request.target() + " was not opened by this engine";
    }

    /** No bytes: nothing to do, but the target must be known (spec 7.6). */
    private static void endEmpty(Transfer transfer) {
        if (transfer.tryStart()) {
            transfer.complete();
        }
    }

    private boolean isShared(Transfer transfer) {
        return isShared(transfer.local());
    }

    private boolean isShared(MemorySegment local) {
        return local.isAccessibleBy(somebodyElse);
    }

    /** Transfers of a batch for which there is room in the queues of their segments. Immutable. */
    record Prepared(
            List<Transfer> transfers, List<Transfer> empty, Map<Segment, List<Transfer>> queued) {
        /** Lets them go. */
        void start() {
            empty.forEach(Dispatcher::endEmpty);
            queued.forEach((segment, waiting) -> segment.queue().add(waiting));
        }

        /** Gives the room back. */
        void drop() {
            queued.forEach((segment, waiting) -> segment.queue().unreserve(waiting.size()));
        }
    }

    /**
     * Checks all requests and makes room for them; none is queued yet.
     *
     * @param listeners who is told of the end of each, by its number
     */
    Outcome<Prepared> prepare(
            List<TransferRequest> requests,
            long deadline,
            IntFunction<Transfer.Listener> listeners) {
        List<Transfer> all = new ArrayList<>(requests.size());
        List<Transfer> empty = new ArrayList<>();
        Map<Segment, List<Transfer>> bySegment = new LinkedHashMap<>();
        for (TransferRequest request : requests) {
            Segment segment = segments.find(request.target());
            if (segment == null) {
                return Outcome.failed(TransferCode.ERR_INVALID_ARGUMENT, unknown(request));
            }
            if (!isShared(request.local())) {
                return Outcome.failed(
                        TransferCode.ERR_INVALID_ARGUMENT,
                        "memory of a confined arena cannot be moved in the background");
            }
            Transfer.Listener listener = listeners.apply(all.size());
            Transfer transfer = transferOf(request, deadline, ended -> told(ended, listener));
            all.add(transfer);
            if (request.lengthBytes() == 0) {
                empty.add(transfer);
            } else {
                bySegment.computeIfAbsent(segment, _ -> new ArrayList<>()).add(transfer);
            }
        }
        List<Segment> reserved = new ArrayList<>();
        for (Map.Entry<Segment, List<Transfer>> entry : bySegment.entrySet()) {
            if (!entry.getKey().queue().reserve(entry.getValue().size())) {
                reserved.forEach(segment -> segment.queue().unreserve(sizeOf(bySegment, segment)));
                return Outcome.failed(
                        TransferCode.ERR_TOO_MANY_REQUESTS,
                        "%d transfers wait for segment %s, and %d more exceed the limit of %d"
                                .formatted(
                                        entry.getKey().queue().size(),
                                        entry.getKey().name(),
                                        entry.getValue().size(),
                                        WorkQueue.MAX_QUEUED));
            }
            reserved.add(entry.getKey());
        }
        return Outcome.ok(new Prepared(all, empty, bySegment));
    }

    private static int sizeOf(Map<Segment, List<Transfer>> bySegment, Segment segment) {
        return bySegment.getOrDefault(segment, List.of()).size();
    }

    private void told(Transfer ended, Transfer.Listener listener) {
        if (ended.end() == Transfer.End.CANCELED) {
            parts.metrics().canceled();
        } else if (ended.outcome() instanceof Outcome.Failed<Done> failed) {
            parts.metrics().failed(failed.code());
        }
        listener.ended(ended);
    }
}
