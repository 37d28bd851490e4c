package io.cassia.master.http;

import com.sun.net.httpserver.HttpExchange;
import io.cassia.status.Code;
import io.cassia.status.CodeInfo;
import io.cassia.status.Language;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.status.Verdict;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** What a request is answered with. Immutable. */
sealed interface Reply {
    JsonMapper MAPPER = JsonMapper.shared();

    int status();

    /** The content type. */
    String type();

    /** A body that is at hand. Immutable. */
    record Whole(int status, String type, String body) implements Reply {}

    /** A body that is written while it is made. Immutable. */
    record Streamed(int status, String type, Body body) implements Reply {}

    /** Writes a body. */
    interface Body {
        void writeTo(OutputStream out) throws IOException;
    }

    static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    static ObjectNode success() {
        return object().put("success", true);
    }

    static Reply text(String body) {
        return new Whole(200, "text/plain; charset=utf-8", body);
    }

    static Reply json(ObjectNode body) {
        return json(200, body);
    }

    static Reply json(int status, ObjectNode body) {
        return new Whole(status, "application/json", body.toString());
    }

    /** The value's answer, or the failure under the status of its code. */
    static <T> Reply of(Outcome<T> outcome, Function<T, Reply> ok) {
        return switch (outcome) {
            case Outcome.Ok<T>(T value) -> ok.apply(value);
            case Outcome.Failed<T> failed -> failure(failed);
        };
    }

    static Reply failure(Outcome.Failed<?> failed) {
        return failure(status(failed.code()), failed.code(), failed.detail());
    }

    static Reply invalid(String detail) {
        return failure(400, StoreCode.INVALID_PARAMS, detail);
    }

    /** Upstream's three members first (spec mooncake-store 12.1), then what helps. */
    static Reply failure(int status, Code code, String detail) {
        CodeInfo info = CodeInfo.of(code, Language.EN);
        return json(
                status,
                object().put("success", false)
                        .put("error_code", code.number())
                        .put("error_message", code.name() + ": " + detail)
                        .put("name", code.name())
                        .put("message", info.summary())
                        .put("detail", detail)
                        .put("remedy", info.remedy())
                        .put("retryable", info.retrySafe().verdict() == Verdict.YES));
    }

    /** Upstream's table of statuses. */
    static int status(Code code) {
        return switch (code) {
            case StoreCode.INVALID_PARAMS -> 400;
            case StoreCode.JOB_NOT_FOUND,
                    StoreCode.SEGMENT_NOT_FOUND,
                    StoreCode.OBJECT_NOT_FOUND,
                    StoreCode.TENANT_NOT_REGISTERED ->
                    404;
            case StoreCode.UNAVAILABLE_IN_CURRENT_MODE,
                    StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                    StoreCode.TENANT_NOT_EMPTY ->
                    409;
            default -> 500;
        };
    }

    /** Answers an exchange, which the caller closes. */
    default void send(HttpExchange exchange) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type());
        switch (this) {
            case Whole whole -> {
                byte[] bytes = whole.body.getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(status(), bytes.length == 0 ? -1 : bytes.length);
                if (bytes.length > 0) {
                    exchange.getResponseBody().write(bytes);
                }
            }
            case Streamed streamed -> {
                exchange.sendResponseHeaders(status(), 0);
                try (OutputStream out = exchange.getResponseBody()) {
                    streamed.body.writeTo(out);
                }
            }
        }
    }
}
