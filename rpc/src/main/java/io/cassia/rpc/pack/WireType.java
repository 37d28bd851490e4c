package io.cassia.rpc.pack;

import io.cassia.base.ByteString;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/**
 * A type of struct_pack: its literal, and how a Java value of it is written and read (spec
 * mooncake-store 11.2). Immutable, combined from the factories below, built once and kept in
 * constants.
 *
 * <p>The implementations are records on purpose: the JIT trusts a record's fields, so that a
 * constant type tree compiles into straight code without a virtual call per field.
 *
 * @param <T> the Java value
 */
public sealed interface WireType<T>
        permits ScalarType,
                StringType,
                BytesType,
                ListType,
                ArrayType,
                MapType,
                SetType,
                OptionalType,
                OptionalLongType,
                VariantType,
                ExpectedType,
                MonostateType,
                StructType,
                AggregateType,
                NoArguments {
    /** i8. */
    WireType<Byte> I8 = ScalarType.of(TypeLiteral.I8, 1, WireReader::i8, (w, v) -> w.i8(v));

    /** u8 as 0 to 255. */
    WireType<Integer> U8 = ScalarType.of(TypeLiteral.U8, 1, WireReader::u8, WireWriter::i8);

    /** i16. */
    WireType<Short> I16 = ScalarType.of(TypeLiteral.I16, 2, WireReader::i16, (w, v) -> w.i16(v));

    /** u16 as 0 to 65535. */
    WireType<Integer> U16 = ScalarType.of(TypeLiteral.U16, 2, WireReader::u16, WireWriter::i16);

    /** i32, and enums without a declared width. */
    WireType<Integer> I32 = ScalarType.of(TypeLiteral.I32, 4, WireReader::i32, WireWriter::i32);

    /** u32 in the bits of an {@code int}. */
    WireType<Integer> U32 = ScalarType.of(TypeLiteral.U32, 4, WireReader::i32, WireWriter::i32);

    /** i64. */
    WireType<Long> I64 = ScalarType.of(TypeLiteral.I64, 8, WireReader::i64, WireWriter::i64);

    /** u64 in the bits of a {@code long}. */
    WireType<Long> U64 = ScalarType.of(TypeLiteral.U64, 8, WireReader::i64, WireWriter::i64);

    /** bool; any byte but 0 reads as true. */
    WireType<Boolean> BOOL = ScalarType.of(TypeLiteral.BOOL, 1, WireReader::bool, WireWriter::bool);

    /** char, a byte. */
    WireType<Byte> CHAR = ScalarType.of(TypeLiteral.CHAR, 1, WireReader::i8, (w, v) -> w.i8(v));

    /** f32. */
    WireType<Float> F32 = ScalarType.of(TypeLiteral.F32, 4, WireReader::f32, WireWriter::f32);

    /** f64. */
    WireType<Double> F64 = ScalarType.of(TypeLiteral.F64, 8, WireReader::f64, WireWriter::f64);

    /** A string that must be UTF-8: names, paths, addresses. Anything else is malformed. */
    WireType<String> STRING = new StringType(true);

    /** A string for people: invalid UTF-8 becomes U+FFFD. For messages, never for names. */
    WireType<String> TEXT = new StringType(false);

    /** A string of any bytes: keys and tenants. */
    WireType<ByteString> BYTES = new BytesType();

    /** optional of u64 (or of i64, whose literal differs: use {@link #optional} for that). */
    WireType<OptionalLong> OPTIONAL_U64 = new OptionalLongType();

    /** The type without a value. */
    WireType<Done> MONOSTATE = new MonostateType();

    /** What a method without arguments takes: an empty body, and whatever comes is ignored. */
    WireType<Done> NO_ARGUMENTS = new NoArguments();

    /** The type literal, without the NUL that ends it in a body. */
    ByteString literal();

    /** Bytes that the shortest value takes with one-byte counts. */
    int minBytes();

    /**
     * Writes a value without a head. Inside {@link WireBody} only, which chooses the width of
     * counts.
     */
    void write(WireWriter writer, T value);

    /** Reads a value without a head; throws {@link MalformedBodyException}. */
    T read(WireReader reader);

    /** A vector. */
    static <E> WireType<List<E>> list(WireType<E> element) {
        return ListType.of(element);
    }

    /** An array of fixed length: no count on the wire, the length is part of the type. */
    static <E> WireType<List<E>> array(WireType<E> element, int length) {
        return ArrayType.of(element, length);
    }

    /** A map; keeps the order of the wire. A key that comes twice is malformed. */
    static <K, V> WireType<Map<K, V>> map(WireType<K> key, WireType<V> value) {
        return MapType.of(key, value);
    }

    /** A set; keeps the order of the wire. */
    static <E> WireType<Set<E>> set(WireType<E> element) {
        return SetType.of(element);
    }

    /** An optional. */
    static <T> WireType<Optional<T>> optional(WireType<T> value) {
        return OptionalType.of(value);
    }

    /** {@code expected<T, ErrorCode>}: a value or the number of a store code. */
    static <T> WireType<Outcome<T>> expected(WireType<T> value) {
        return ExpectedType.of(value);
    }

    /**
     * A variant.
     *
     * @param index which alternative a value is
     * @param alternatives in the order of the wire
     */
    static <T> WireType<T> variant(
            ToIntFunction<? super T> index, List<? extends WireType<? extends T>> alternatives) {
        return VariantType.of(index, alternatives);
    }

    /**
     * A struct, tuple or pair that is packed member by member.
     *
     * @param reads reads the members in order
     * @param writes writes the members in order
     * @param members what {@code reads} and {@code writes} handle, in order
     */
    static <T> WireType<T> struct(Reads<T> reads, Writes<T> writes, WireType<?>... members) {
        return StructType.of(reads, writes, List.of(members));
    }

    /** A pair that is packed member by member. Two scalars make an {@link #aggregate} instead. */
    static <A, B> WireType<Map.Entry<A, B>> pair(WireType<A> first, WireType<B> second) {
        return struct(
                reader -> Map.entry(first.read(reader), second.read(reader)),
                (writer, pair) -> {
                    first.write(writer, pair.getKey());
                    second.write(writer, pair.getValue());
                },
                first,
                second);
    }

    /**
     * A trivially copyable aggregate of scalars that lies without gaps: stored as raw memory, which
     * then is its members one after the other.
     *
     * @throws IllegalArgumentException if the members' alignment makes gaps
     */
    static <T> WireType<T> aggregate(Reads<T> reads, Writes<T> writes, WireType<?>... members) {
        AggregateLayout layout = AggregateLayout.of(List.of(members));
        if (layout.hasGaps()) {
            throw new IllegalArgumentException("the aggregate has padding: use paddedAggregate");
        }
        return new AggregateType<>(reads, writes, layout.literal(), layout.sizeBytes(), layout);
    }

    /**
     * A trivially copyable aggregate of scalars with gaps: stored as raw memory. Gaps are written
     * zero and ignored when read. Slower than {@link #aggregate}.
     *
     * @param make makes a value of the members
     * @param take takes a value apart
     */
    static <T> WireType<T> paddedAggregate(
            Function<Object[], T> make, Function<T, Object[]> take, WireType<?>... members) {
        AggregateLayout layout = AggregateLayout.of(List.of(members));
        return new AggregateType<>(
                reader -> make.apply(layout.read(reader)),
                (writer, value) -> layout.write(writer, take.apply(value)),
                layout.literal(),
                layout.sizeBytes(),
                layout);
    }

    /** Reads one value. */
    @FunctionalInterface
    interface Reads<T> {
        T read(WireReader reader);
    }

    /** Writes one value. */
    @FunctionalInterface
    interface Writes<T> {
        void write(WireWriter writer, T value);
    }
}
