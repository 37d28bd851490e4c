package io.cassia.status;

import org.jspecify.annotations.Nullable;

/** A failure of the contract for callers that prefer exceptions. Immutable. */
public final class CassiaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Code code;
    private final String detail;

    public CassiaException(Code code, String detail) {
        this(code, detail, null);
    }

    public CassiaException(Code code, String detail, @Nullable Throwable cause) {
        super(code.label() + ": " + detail, cause);
        this.code = code;
        this.detail = detail;
    }

    public Code code() {
        return code;
    }

    public String detail() {
        return detail;
    }

    /** The same failure as data. */
    public <T> Outcome<T> toOutcome() {
        return Outcome.failed(code, detail);
    }
}
