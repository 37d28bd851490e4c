package io.cassia.datadist.link;

import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What came of linking or unlinking several clusters. Immutable.
 *
 * @param overall SUCCESS when every entry is (for an unlink also when the others were not linked);
 *     the code that all failing entries share, when it is ALREADY_LINK or PARAM_INVALID; {@code
 *     LLM_WAIT_PROC_TIMEOUT} when all entries are that; {@code LLM_LINK_FAILED} or {@code
 *     LLM_UNLINK_FAILED} otherwise
 * @param entries one per cluster, in the order of the call; empty when the call itself was refused
 */
public record LinkResult(Outcome<Done> overall, List<Outcome<Done>> entries) {
    private static final Set<Code> SHARED =
            Set.of(LlmStatus.LLM_ALREADY_LINK, LlmStatus.LLM_PARAM_INVALID);

    public LinkResult {
        entries = List.copyOf(entries);
    }

    /** A call that was refused before any cluster was tried. */
    static LinkResult refused(LlmStatus code, String detail) {
        return new LinkResult(Outcome.failed(code, detail), List.of());
    }

    /** The rule for linking. */
    public static LinkResult ofLink(List<Outcome<Done>> entries) {
        List<Outcome.Failed<Done>> failures = failures(entries);
        if (failures.isEmpty()) {
            return new LinkResult(Outcome.done(), entries);
        }
        Code first = failures.getFirst().code();
        boolean same = failures.stream().allMatch(f -> f.code().equals(first));
        boolean allSilent =
                same
                        && first.equals(LlmStatus.LLM_WAIT_PROC_TIMEOUT)
                        && failures.size() == entries.size();
        Code code =
                allSilent || (same && SHARED.contains(first)) ? first : LlmStatus.LLM_LINK_FAILED;
        return new LinkResult(
                Outcome.failed(code, summary(failures, entries.size(), "linked")), entries);
    }

    /** The rule for unlinking. */
    public static LinkResult ofUnlink(List<Outcome<Done>> entries) {
        List<Outcome.Failed<Done>> failures =
                failures(entries).stream()
                        .filter(f -> f.code() != LlmStatus.LLM_NOT_YET_LINK)
                        .toList();
        return failures.isEmpty()
                ? new LinkResult(Outcome.done(), entries)
                : new LinkResult(
                        Outcome.failed(
                                LlmStatus.LLM_UNLINK_FAILED,
                                summary(failures, entries.size(), "unlinked")),
                        entries);
    }

    /** The overall code; {@code LLM_SUCCESS} when it went well. */
    public Code status() {
        return code(overall);
    }

    /** The code of each entry. */
    public List<Code> statuses() {
        return entries.stream().map(LinkResult::code).toList();
    }

    private static Code code(Outcome<Done> outcome) {
        return switch (outcome) {
            case Outcome.Ok<Done> ok -> LlmStatus.LLM_SUCCESS;
            case Outcome.Failed<Done>(Code code, String detail) -> code;
        };
    }

    private static List<Outcome.Failed<Done>> failures(List<Outcome<Done>> entries) {
        return entries.stream().map(LinkResult::failure).flatMap(Optional::stream).toList();
    }

    private static Optional<Outcome.Failed<Done>> failure(Outcome<Done> entry) {
        return entry instanceof Outcome.Failed<Done> failed
                ? Optional.of(failed)
                : Optional.empty();
    }

    private static String summary(List<Outcome.Failed<Done>> failures, int all, String what) {
        Outcome.Failed<Done> first = failures.getFirst();
        return "%d of %d clusters were not %s; the first: %s, %s"
                .formatted(failures.size(), all, what, first.code().label(), first.detail());
    }
}
