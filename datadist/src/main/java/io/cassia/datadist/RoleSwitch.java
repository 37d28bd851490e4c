package io.cassia.datadist;

import io.cassia.datadist.link.IpInfo;
import io.cassia.datadist.link.LlmRole;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.util.Map;
import java.util.Optional;

/** Immutable. Rules of {@link LlmDataDist#setRole(LlmRole, Map)}. */
final class RoleSwitch {
    private RoleSwitch() {}

    static Outcome<Done> run(Instance open, LlmRole role, Map<String, String> options) {
        boolean gating = open.options().roleGating();
        if (gating && !open.options().switchRole()) {
            return Outcome.failed(
                    LlmStatus.LLM_FEATURE_NOT_ENABLED,
                    "llm.EnableSwitchRole is not 1: the role stays %s"
                            .formatted(open.links().role()));
        }
        if (!open.links().infos().isEmpty()) {
            return open.links().become(role, Optional.empty());
        }
        return OptionKeys.parse(options, false)
                .then(
                        parsed -> {
                            Optional<IpInfo> listen = open.listenFor(role, parsed.listen());
                            return gating && role == LlmRole.PROMPT && listen.isEmpty()
                                    ? Outcome.failed(
                                            LlmStatus.LLM_PARAM_INVALID,
                                            "a prompt needs llm.ListenIpInfo to be linked")
                                    : open.links().become(role, listen);
                        });
    }
}
