package io.cassia.rpc;

import java.util.Optional;

/** Errors of the framing, {@code coro_rpc::errc} (spec mooncake-store 11.2). Immutable. */
enum RpcError {
    IO_ERROR(1, "io error"),
    NOT_CONNECTED(2, "not connected"),
    TIMED_OUT(3, "timed out"),
    INVALID_ARGUMENTS(4, "invalid rpc arg"),
    THROW_EXCEPTION(10, "rpc throw exception"),
    NOT_REGISTERED(11, "the rpc function not registered"),
    PROTOCOL_ERROR(12, "protocol error"),
    UNKNOWN_VERSION(13, "unknown protocol version"),
    MESSAGE_TOO_LARGE(14, "message too large"),
    HAS_RUN(15, "server has ran"),
    INVALID_RESULT(16, "invalid rpc result"),
    SEQUENCE_CONFLICT(17, "serial number conflict");

    private final int number;
    private final String text;

    RpcError(int number, String text) {
        this.number = number;
        this.text = text;
    }

    int number() {
        return number;
    }

    /** What upstream says, as far as it was recorded. */
    String text() {
        return text;
    }

    static Optional<RpcError> find(int number) {
        for (RpcError error : values()) {
            if (error.number == number) {
                return Optional.of(error);
            }
        }
        return Optional.empty();
    }
}
