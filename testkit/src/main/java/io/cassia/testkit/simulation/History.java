package io.cassia.testkit.simulation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Confined to one thread. What the clients of one thing did and saw, and whether that has an
 * explanation: an order of the operations in which each takes effect at one moment between its call
 * and its end, and sees what the ones before it left (linearizability).
 *
 * <p>The check walks through the history and keeps all states that the thing can be in, each with
 * the open operations that have taken effect for it. An operation whose caller never learned the
 * outcome may take effect or not, until the moment from which it cannot any more.
 *
 * @param <S> state of the thing, with equality
 * @param <O> an operation with its outcome
 */
public final class History<S, O> {
    /** What operations do. */
    public interface Rules<S, O> {
        /** The state after the operation; null when it cannot take effect in this state. */
        @Nullable S apply(S state, O operation);

        /** Whether the operation leaves every state as it is. */
        boolean isObservation(O operation);
    }

    private enum Outcome {
        OPEN,
        DONE,
        UNKNOWN,
        FAILED
    }

    /** An operation between its call and its end. */
    public static final class Call<O> {
        private O operation;
        private Outcome outcome = Outcome.OPEN;
        private int bit = -1;

        private Call(O operation) {
            this.operation = operation;
        }

        public boolean isOpen() {
            return outcome == Outcome.OPEN;
        }
    }

    private record Event<O>(Call<O> call, boolean begins, long nanos) {}

    private record Possible<S>(S state, long done) {}

    /** More operations at one time would mean that the caller forgets to end them. */
    private static final int MOST_OPEN = 63;

    private static final int MOST_STATES = 200_000;
    private static final int LINES = 40;

    private final VirtualTime time;
    private final S initial;
    private final Rules<S, O> rules;
    private final List<Event<O>> events = new ArrayList<>();

    public History(VirtualTime time, S initial, Rules<S, O> rules) {
        this.time = time;
        this.initial = initial;
        this.rules = rules;
    }

    /** An operation begins; what it will have seen may be told at its end. */
    public Call<O> call(O operation) {
        Call<O> call = new Call<>(operation);
        events.add(new Event<>(call, true, time.nanos()));
        return call;
    }

    /** It has taken effect. */
    public void done(Call<O> call) {
        end(call, Outcome.DONE);
    }

    /** It has taken effect, and this is what it saw. */
    public void done(Call<O> call, O seen) {
        call.operation = seen;
        end(call, Outcome.DONE);
    }

    /** It has not taken effect and never will. */
    public void failed(Call<O> call) {
        end(call, Outcome.FAILED);
    }

    /** It has taken effect or never will: nobody knows. */
    public void unknown(Call<O> call) {
        end(call, Outcome.UNKNOWN);
    }

    /** An operation that takes effect at this very moment. */
    public void happened(O operation) {
        done(call(operation));
    }

    private void end(Call<O> call, Outcome outcome) {
        if (!call.isOpen()) {
            throw new IllegalStateException("ended twice: " + call.operation);
        }
        call.outcome = outcome;
        events.add(new Event<>(call, false, time.nanos()));
    }

    public int size() {
        return events.size();
    }

    /** Empty when there is an explanation; else what has none. */
    public Optional<String> check() {
        Set<Possible<S>> possible = Set.of(new Possible<>(initial, 0L));
        List<Call<O>> open = new ArrayList<>();
        long taken = 0;
        for (int i = 0; i < events.size(); i++) {
            Event<O> event = events.get(i);
            Call<O> call = event.call;
            boolean ignored = call.outcome == Outcome.FAILED || isUseless(call);
            if (ignored) {
                continue;
            }
            if (event.begins) {
                call.bit = Long.numberOfTrailingZeros(~taken);
                if (call.bit >= MOST_OPEN) {
                    throw new IllegalStateException("more than " + MOST_OPEN + " open operations");
                }
                taken |= 1L << call.bit;
                open.add(call);
                continue;
            }
            Set<Possible<S>> next = closed(reachable(possible, open), call);
            if (next.isEmpty()) {
                return Optional.of(explain(possible, i));
            }
            if (next.size() > MOST_STATES) {
                throw new IllegalStateException(next.size() + " possible states");
            }
            possible = next;
            open.remove(call);
            taken &= ~(1L << call.bit);
        }
        return Optional.empty();
    }

    private boolean isUseless(Call<O> call) {
        return call.outcome != Outcome.DONE && rules.isObservation(call.operation);
    }

    private Set<Possible<S>> closed(Collection<Possible<S>> reachable, Call<O> call) {
        long bit = 1L << call.bit;
        Set<Possible<S>> kept = new LinkedHashSet<>();
        for (Possible<S> each : reachable) {
            if ((each.done & bit) != 0 || call.outcome == Outcome.UNKNOWN) {
                kept.add(new Possible<>(each.state, each.done & ~bit));
            }
        }
        return kept;
    }

    /**
     * All states that open operations may have led to, by as few of the unknown ones as possible.
     */
    private Set<Possible<S>> reachable(Set<Possible<S>> possible, List<Call<O>> open) {
        long unknown = 0;
        for (Call<O> each : open) {
            unknown |= each.outcome == Outcome.UNKNOWN ? 1L << each.bit : 0;
        }
        Fewest<S> found = new Fewest<>(unknown);
        Deque<Possible<S>> frontier = new ArrayDeque<>();
        for (Possible<S> each : possible) {
            Possible<S> start = observed(each.state, each.done, open);
            if (found.add(start)) {
                frontier.add(start);
            }
        }
        // The first in first: those with fewer operations come before those with more.
        while (!frontier.isEmpty()) {
            Possible<S> from = frontier.removeFirst();
            for (Call<O> each : open) {
                long bit = 1L << each.bit;
                if ((from.done & bit) != 0 || rules.isObservation(each.operation)) {
                    continue;
                }
                S after = rules.apply(from.state, each.operation);
                if (after != null) {
                    Possible<S> to = observed(after, from.done | bit, open);
                    if (found.add(to)) {
                        frontier.add(to);
                    }
                }
            }
        }
        return found.all;
    }

    /**
     * Leaves out what another one makes needless: an operation that may also never happen is better
     * left for later, so of two ways to the same state that differ in such operations only, the one
     * with fewer of them can do whatever the other can. Confined to a check.
     */
    private static final class Fewest<S> {
        private final Set<Possible<S>> all = new LinkedHashSet<>();
        private final Map<Possible<S>, List<Long>> byRest = new HashMap<>();
        private final long unknown;

        Fewest(long unknown) {
            this.unknown = unknown;
        }

        boolean add(Possible<S> way) {
            List<Long> others =
                    byRest.computeIfAbsent(
                            new Possible<>(way.state, way.done & ~unknown), _ -> new ArrayList<>());
            for (long other : others) {
                if ((other & ~way.done) == 0) {
                    return false;
                }
            }
            others.add(way.done & unknown);
            return all.add(way);
        }
    }

    /** An observation that fits may as well be made at once: it changes nothing. */
    private Possible<S> observed(S state, long done, List<Call<O>> open) {
        long all = done;
        for (Call<O> each : open) {
            if (rules.isObservation(each.operation) && rules.apply(state, each.operation) != null) {
                all |= 1L << each.bit;
            }
        }
        return new Possible<>(state, all);
    }

    private String explain(Set<Possible<S>> before, int last) {
        StringBuilder text =
                new StringBuilder("no order of the operations explains the last line;");
        text.append(" before it: ").append(before);
        for (int i = Math.max(0, last - LINES); i <= last; i++) {
            Event<O> event = events.get(i);
            text.append("\n    ")
                    .append(event.nanos / 1000)
                    .append(" us ")
                    .append(event.begins ? "call " : "end  ")
                    .append(event.call.operation)
                    .append(event.begins ? "" : " " + event.call.outcome);
        }
        return text.toString();
    }
}
