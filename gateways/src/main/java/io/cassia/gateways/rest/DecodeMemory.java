package io.cassia.gateways.rest;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The file that is lent in mode decode and taken back in mode prefill (spec mooncake-store 12.3).
 * Guarded: one change at a time.
 *
 * <pre>
 *   PREFILL ── decode: mount ──► DECODE ── decode of another part: mount it, then unmount this ──┐
 *      ▲                          │  ▲                                                          │
 *      └── prefill: unmount ──────┘  └──────────────────────────────────────────────────────────┘
 * </pre>
 *
 * A change that fails leaves the segments that there were, as far as they could not be unmounted.
 */
final class DecodeMemory {
    private static final System.Logger LOG = System.getLogger(DecodeMemory.class.getName());

    private final SegmentHost host;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private Optional<FilePart> lent = Optional.empty();

    @GuardedBy("lock")
    private List<String> segments = List.of();

    DecodeMemory(SegmentHost host) {
        this.host = host;
    }

    /** What a change has come to: the segments that could not be unmounted, and why. */
    record Change(List<String> segments, List<String> stuck, Optional<Outcome.Failed<?>> failure) {
        static Change to(List<String> segments) {
            return new Change(segments, List.of(), Optional.empty());
        }
    }

    /** Lends a part instead of what is lent; the same one once more changes nothing. */
    Change decode(FilePart wanted) {
        lock.lock();
        try {
            List<String> before = stillLent();
            if (lent.equals(Optional.of(wanted)) && before.equals(segments) && !before.isEmpty()) {
                return Change.to(segments);
            }
            return switch (host.mount(wanted)) {
                case Outcome.Failed<List<String>> failed ->
                        new Change(before, List.of(), Optional.of(failed));
                case Outcome.Ok<List<String>>(List<String> mounted) ->
                        replace(before, wanted, mounted);
            };
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private Change replace(List<String> before, FilePart wanted, List<String> mounted) {
        Change taken = unmount(before);
        if (taken.failure().isPresent()) {
            Change back = unmount(mounted);
            List<String> left = new ArrayList<>(taken.stuck());
            left.addAll(back.stuck());
            segments = left;
            return new Change(left, taken.stuck(), taken.failure());
        }
        lent = Optional.of(wanted);
        segments = mounted;
        return Change.to(mounted);
    }

    /** Takes back what is lent; nothing is fine. */
    Change prefill() {
        lock.lock();
        try {
            Change taken = unmount(stillLent());
            segments = taken.stuck();
            lent = taken.failure().isPresent() ? lent : Optional.empty();
            return taken;
        } finally {
            lock.unlock();
        }
    }

    /** Others may have been unmounted by another request, or because their file was cut off. */
    @GuardedBy("lock")
    private List<String> stillLent() {
        List<String> now = host.lent();
        return segments.stream().filter(now::contains).toList();
    }

    private Change unmount(List<String> ids) {
        List<String> stuck = new ArrayList<>();
        Optional<Outcome.Failed<?>> first = Optional.empty();
        for (String id : ids) {
            Outcome<Done> unmounted = host.unmount(id, Duration.ZERO);
            if (unmounted instanceof Outcome.Failed<Done>(Code code, String detail)
                    && host.lent().contains(id)) {
                LOG.log(
                        Level.WARNING,
                        "segment not taken back segment={0} code={1} detail={2}",
                        id,
                        code.label(),
                        detail);
                stuck.add(id);
                first = first.or(() -> Optional.of(Outcome.failed(code, detail)));
            }
        }
        return new Change(stuck, stuck, first);
    }
}
