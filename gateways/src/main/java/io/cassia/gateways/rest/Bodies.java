package io.cassia.gateways.rest;

import io.cassia.status.Code;
import io.cassia.status.CodeInfo;
import io.cassia.status.Language;
import io.cassia.status.Outcome;
import io.cassia.status.Verdict;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The JSON documents that answers consist of. Immutable. */
final class Bodies {
    static final JsonMapper MAPPER = JsonMapper.builder().build();

    private Bodies() {}

    static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    static ObjectNode success() {
        return object().put("status", "success");
    }

    /** What every failure says; {@code error} is upstream's only member. */
    static ObjectNode failure(Code code, String detail) {
        CodeInfo info = CodeInfo.of(code, Language.EN);
        return object().put("error", code.label() + ": " + detail)
                .put("code", code.number())
                .put("name", code.name())
                .put("message", detail)
                .put("remedy", info.remedy())
                .put("retryable", info.retrySafe().verdict() == Verdict.YES);
    }

    static ObjectNode failure(Outcome.Failed<?> failed) {
        return failure(failed.code(), failed.detail());
    }
}
