package io.cassia.status;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.Objects;
import java.util.function.Function;

/**
 * The result of one operation: a value, or a code with what was attempted and why it failed.
 * Immutable. Batches return one outcome per item.
 *
 * @param <T> type of the value; {@code Void}-like operations use {@link Done}
 */
public sealed interface Outcome<T> {
    /**
     * Success.
     *
     * @param value the result
     */
    record Ok<T>(T value) implements Outcome<T> {
        public Ok {
            Objects.requireNonNull(value);
        }
    }

    /**
     * Failure.
     *
     * @param code never a success code
     * @param detail what was attempted, the sizes and names involved, the cause, what may be done
     */
    record Failed<T>(Code code, String detail) implements Outcome<T> {
        public Failed {
            Objects.requireNonNull(detail);
            if (code.isOk()) {
                throw new IllegalArgumentException("a failure cannot carry " + code);
            }
        }

        /** The same failure for another value type. */
        @SuppressWarnings("unchecked")
        public <R> Failed<R> as() {
            return (Failed<R>) this;
        }

        /** The same failure with the caller's context put in front of the detail. */
        public <R> Failed<R> in(String context) {
            return new Failed<>(code, detail.isEmpty() ? context : context + ": " + detail);
        }
    }

    static <T> Outcome<T> ok(T value) {
        return new Ok<>(value);
    }

    /** Success without a value. */
    static Outcome<Done> done() {
        return Done.OUTCOME;
    }

    static <T> Failed<T> failed(Code code, String detail) {
        return new Failed<>(code, detail);
    }

    default boolean isOk() {
        return this instanceof Ok;
    }

    /**
     * The value, or a {@link CassiaException} with the same code and detail. The value may be
     * dropped: the failure cannot be.
     */
    @CanIgnoreReturnValue
    default T orThrow() {
        return switch (this) {
            case Ok<T>(T value) -> value;
            case Failed<T>(Code code, String detail) -> throw new CassiaException(code, detail);
        };
    }

    default <R> Outcome<R> map(Function<? super T, ? extends R> f) {
        return switch (this) {
            case Ok<T>(T value) -> ok(f.apply(value));
            case Failed<T> failed -> failed.as();
        };
    }

    default <R> Outcome<R> then(Function<? super T, Outcome<R>> f) {
        return switch (this) {
            case Ok<T>(T value) -> f.apply(value);
            case Failed<T> failed -> failed.as();
        };
    }
}
