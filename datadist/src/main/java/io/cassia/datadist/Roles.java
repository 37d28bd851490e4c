package io.cassia.datadist;

import io.cassia.datadist.link.LlmRole;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;

/** Immutable. Who may call what, while roles gate. */
final class Roles {
    private Roles() {}

    /** {@code LLM_PARAM_INVALID} unless the instance has the role or roles do not gate. */
    static Outcome<Done> require(Instance open, LlmRole role, String what) {
        LlmRole own = open.links().role();
        return own == role || !open.options().roleGating()
                ? Outcome.done()
                : Outcome.failed(
                        LlmStatus.LLM_PARAM_INVALID,
                        "a %s may not %s, a %s may (llm.RoleGating=0 lifts that)"
                                .formatted(own, what, role));
    }
}
