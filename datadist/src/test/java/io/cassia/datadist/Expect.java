package io.cassia.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Code;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;

/** Immutable. What tests say of outcomes. */
public final class Expect {
    private Expect() {}

    /** It went well. */
    public static void ok(Outcome<?> outcome) {
        assertThat(code(outcome)).as("%s", outcome).isEqualTo(LlmStatus.LLM_SUCCESS);
    }

    /** It failed with this code, and the detail holds these words. */
    public static void failed(Outcome<?> outcome, LlmStatus code, String... words) {
        assertThat(code(outcome)).as("%s", outcome).isEqualTo(code);
        assertThat(detail(outcome)).hasSizeGreaterThan(5);
        for (String word : words) {
            assertThat(detail(outcome)).contains(word);
        }
    }

    public static void invalid(Outcome<?> outcome, String... words) {
        failed(outcome, LlmStatus.LLM_PARAM_INVALID, words);
    }

    public static void missing(Outcome<?> outcome, String... words) {
        failed(outcome, LlmStatus.LLM_KV_CACHE_NOT_EXIST, words);
    }

    public static Code code(Outcome<?> outcome) {
        return switch (outcome) {
            case Outcome.Ok<?> ok -> LlmStatus.LLM_SUCCESS;
            case Outcome.Failed<?>(Code code, String detail) -> code;
        };
    }

    public static String detail(Outcome<?> outcome) {
        return switch (outcome) {
            case Outcome.Ok<?> ok -> "";
            case Outcome.Failed<?>(Code code, String detail) -> detail;
        };
    }
}
