package io.cassia.transfer;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transfer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Spreads one large call over several lanes, cutting large requests. Immutable.
 *
 * <p>A lane keeps one processor busy at either end at most. So there are as many stripes as pairs
 * of processors: on two, which the ends of one lane fill, a second lane only adds switches between
 * threads. Calls below {@link #MIN_STRIPE_BYTES} per lane gain nothing.
 *
 * @param count lanes at most
 */
record Striping(int count) {
    /** A stripe carries so much at least. */
    private static final long MIN_STRIPE_BYTES = 8 << 20;

    /** Requests are cut at multiples of this, so that no piece is tiny. */
    private static final long CUT_BYTES = 1 << 20;

    static Striping of(TransferConfig config) {
        if (config.stripes() != TransferConfig.AUTO) {
            return new Striping(config.stripes());
        }
        int pairs = Runtime.getRuntime().availableProcessors() / 2;
        return new Striping(Math.clamp(pairs, 1, config.lanesPerPeer()));
    }

    /**
     * Stripes of about equal size, the first for the caller; none when one lane is enough. Requests
     * that lie in one stripe stay what they are, others are cut into pieces.
     */
    List<List<Transfer>> cut(
            List<Transfer> transfers, Predicate<Transfer> shared, long deadlineNanos) {
        long total = 0;
        for (Transfer transfer : transfers) {
            total += transfer.lengthBytes();
        }
        int stripes = (int) Math.min(count, total / MIN_STRIPE_BYTES);
        if (stripes < 2 || !transfers.stream().allMatch(shared)) {
            return List.of();
        }
        long quota = (total / stripes + CUT_BYTES - 1) / CUT_BYTES * CUT_BYTES;
        List<List<Transfer>> cut = new ArrayList<>();
        List<Transfer> current = new ArrayList<>();
        long room = quota;
        for (Transfer transfer : transfers) {
            long from = 0;
            long length = transfer.lengthBytes();
            while (from < length) {
                long left = length - from;
                long take = left - room < CUT_BYTES ? left : room;
                current.add(take == length ? transfer : piece(transfer, from, take, deadlineNanos));
                from += take;
                room -= take;
                if (room <= 0) {
                    cut.add(current);
                    current = new ArrayList<>();
                    room = quota;
                }
            }
        }
        if (!current.isEmpty()) {
            cut.add(current);
        }
        return cut;
    }

    private static Transfer piece(Transfer whole, long from, long length, long deadlineNanos) {
        return new Transfer(
                whole.isWrite(),
                whole.local().asSlice(from, length),
                whole.remoteAddress() + from,
                deadlineNanos,
                null);
    }

    /**
     * Ends the requests that were cut: as their pieces, with the failure of the first that failed.
     */
    void join(List<Transfer> transfers, List<List<Transfer>> stripes) {
        Set<Transfer> whole = new HashSet<>(transfers);
        List<Transfer> pieces = new ArrayList<>();
        for (List<Transfer> stripe : stripes) {
            for (Transfer part : stripe) {
                if (!whole.contains(part)) {
                    pieces.add(part);
                }
            }
        }
        int next = 0;
        for (Transfer transfer : transfers) {
            if (transfer.isEnded()) {
                continue;
            }
            long covered = 0;
            Outcome.Failed<Done> failure = null;
            boolean late = false;
            while (covered < transfer.lengthBytes()) {
                Transfer part = pieces.get(next++);
                covered += part.lengthBytes();
                if (failure == null && part.outcome() instanceof Outcome.Failed<Done> failed) {
                    failure = failed;
                    late = part.isTimedOut();
                }
            }
            if (!transfer.tryStart()) {
                throw new IllegalStateException("started already");
            }
            if (failure == null) {
                transfer.complete();
            } else {
                transfer.fail(failure.code(), failure.detail(), late);
            }
        }
    }
}
