package io.cassia.rpc.pack;

import io.cassia.base.ByteString;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.function.Supplier;

/** Types and values of them, made from a seed. Confined to one test. */
final class RandomTypes {
    private static final int MAX_DEPTH = 4;

    private final Random random;

    RandomTypes(long seed) {
        this.random = new Random(seed);
    }

    /** A type and a source of its values. */
    record Sample<T>(WireType<T> type, Supplier<T> values) {}

    private record Two(Object first, Object second) {}

    Sample<?> any() {
        return any(MAX_DEPTH);
    }

    private Sample<?> any(int depth) {
        int kinds = depth == 0 ? 10 : 20;
        return switch (random.nextInt(kinds)) {
            case 0 -> new Sample<>(WireType.I8, () -> (byte) random.nextInt());
            case 1 -> new Sample<>(WireType.U8, () -> random.nextInt(256));
            case 2 -> new Sample<>(WireType.U16, () -> random.nextInt(65_536));
            case 3 -> new Sample<>(WireType.I32, random::nextInt);
            case 4 -> new Sample<>(WireType.U64, random::nextLong);
            case 5 -> new Sample<>(WireType.BOOL, random::nextBoolean);
            case 6 -> new Sample<>(WireType.F64, random::nextDouble);
            case 7 -> new Sample<>(WireType.STRING, this::text);
            case 8 -> new Sample<>(WireType.BYTES, this::bytes);
            case 9 ->
                    new Sample<>(
                            WireType.OPTIONAL_U64,
                            () ->
                                    random.nextBoolean()
                                            ? OptionalLong.empty()
                                            : OptionalLong.of(random.nextLong()));
            case 10, 11 -> list(any(depth - 1));
            case 12 -> array(any(depth - 1));
            case 13 -> map(any(depth - 1));
            case 14 -> set();
            case 15 -> optional(any(depth - 1));
            case 16 -> expected(any(depth - 1));
            case 17 -> variant(any(depth - 1), any(depth - 1));
            case 18 -> padded();
            default -> pair(any(depth - 1), any(depth - 1));
        };
    }

    private int length() {
        return switch (random.nextInt(40)) {
            case 0 -> 200 + random.nextInt(100);
            case 1 -> 1000;
            default -> random.nextInt(6);
        };
    }

    private String text() {
        StringBuilder text = new StringBuilder();
        for (int i = length(); i > 0; i--) {
            text.appendCodePoint(
                    switch (random.nextInt(4)) {
                        case 0 -> 0x1F600 + random.nextInt(64);
                        case 1 -> 0xa0 + random.nextInt(500);
                        default -> ' ' + random.nextInt(90);
                    });
        }
        return text.toString();
    }

    private ByteString bytes() {
        byte[] bytes = new byte[length()];
        random.nextBytes(bytes);
        return ByteString.wrap(bytes);
    }

    private <T> Sample<List<T>> list(Sample<T> element) {
        return new Sample<>(
                WireType.list(element.type()), () -> some(element, Math.min(300, length())));
    }

    private <T> List<T> some(Sample<T> element, int count) {
        List<T> values = new ArrayList<>();
        // Nested containers multiply, so that deep ones stay short.
        int bounded = element.type() instanceof ScalarType<?> ? count : Math.min(count, 4);
        for (int i = 0; i < bounded; i++) {
            values.add(element.values().get());
        }
        return values;
    }

    private <T> Sample<List<T>> array(Sample<T> element) {
        int length = 1 + random.nextInt(3);
        return new Sample<>(WireType.array(element.type(), length), () -> some(element, length));
    }

    private <T> Sample<Map<ByteString, T>> map(Sample<T> value) {
        return new Sample<>(
                WireType.map(WireType.BYTES, value.type()),
                () -> {
                    Map<ByteString, T> map = new LinkedHashMap<>();
                    for (int i = random.nextInt(5); i > 0; i--) {
                        map.put(bytes(), value.values().get());
                    }
                    return map;
                });
    }

    private Sample<Set<Long>> set() {
        return new Sample<>(
                WireType.set(WireType.I64),
                () -> {
                    Set<Long> set = new LinkedHashSet<>();
                    for (int i = length(); i > 0; i--) {
                        set.add(random.nextLong());
                    }
                    return set;
                });
    }

    private <T> Sample<Optional<T>> optional(Sample<T> value) {
        return new Sample<>(
                WireType.optional(value.type()),
                () -> random.nextBoolean() ? Optional.empty() : Optional.of(value.values().get()));
    }

    private <T> Sample<? extends Outcome<?>> expected(Sample<T> value) {
        if (random.nextInt(3) == 0) {
            return new Sample<>(
                    WireType.expected(WireType.MONOSTATE), () -> outcome(() -> Done.DONE));
        }
        return new Sample<>(WireType.expected(value.type()), () -> outcome(value.values()));
    }

    private <T> Outcome<T> outcome(Supplier<T> value) {
        if (random.nextBoolean()) {
            return Outcome.ok(value.get());
        }
        StoreCode[] codes = StoreCode.values();
        StoreCode code = codes[1 + random.nextInt(codes.length - 1)];
        return Outcome.failed(code, "m answered " + code.label());
    }

    /** Wrapped, so that a value says which alternative it is. */
    private Sample<Two> variant(Sample<?> left, Sample<?> right) {
        WireType<Two> first = wrapped(left, 0);
        WireType<Two> second = wrapped(right, 1);
        return new Sample<>(
                WireType.variant(two -> (Integer) two.first(), List.of(first, second)),
                () ->
                        random.nextBoolean()
                                ? new Two(0, left.values().get())
                                : new Two(1, right.values().get()));
    }

    @SuppressWarnings("unchecked") // The value came from the same sample.
    private static <T> WireType<Two> wrapped(Sample<T> sample, int which) {
        return WireType.struct(
                r -> new Two(which, sample.type().read(r)),
                (w, two) -> sample.type().write(w, (T) two.second()),
                sample.type());
    }

    private Sample<Two> padded() {
        return new Sample<>(
                WireType.paddedAggregate(
                        values -> new Two(values[0], values[1]),
                        two -> new Object[] {two.first(), two.second()},
                        WireType.U8,
                        WireType.I64),
                () -> new Two(random.nextInt(256), random.nextLong()));
    }

    @SuppressWarnings("unchecked") // The values came from the same samples.
    private static <A, B> Sample<Two> pair(Sample<A> left, Sample<B> right) {
        return new Sample<>(
                WireType.struct(
                        r -> new Two(left.type().read(r), right.type().read(r)),
                        (w, two) -> {
                            left.type().write(w, (A) two.first());
                            right.type().write(w, (B) two.second());
                        },
                        left.type(),
                        right.type()),
                () -> new Two(left.values().get(), right.values().get()));
    }
}
