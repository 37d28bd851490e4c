package io.cassia.rpc.pack;

import io.cassia.base.ByteString;
import java.util.List;

/**
 * Where the members of a raw aggregate lie: each at a multiple of its own alignment, the whole
 * rounded up to the largest one. Immutable.
 *
 * <pre>
 * { i64 a, i32 b }:  | a : 8 | b : 4 | gap : 4 |   alignment 8, literal fd 03 01 89 89 ff
 * </pre>
 */
record AggregateLayout(
        List<WireType<?>> members,
        List<Integer> gapsBefore,
        int tailGap,
        int sizeBytes,
        int alignment) {
    static AggregateLayout of(List<WireType<?>> members) {
        int alignment = 1;
        int offset = 0;
        Integer[] gaps = new Integer[members.size()];
        for (int i = 0; i < gaps.length; i++) {
            WireType<?> member = members.get(i);
            int own = alignmentOf(member);
            alignment = Math.max(alignment, own);
            gaps[i] = gap(offset, own);
            offset += gaps[i] + member.minBytes();
        }
        int tail = gap(offset, alignment);
        return new AggregateLayout(members, List.of(gaps), tail, offset + tail, alignment);
    }

    private static int alignmentOf(WireType<?> member) {
        return switch (member) {
            case ScalarType<?> scalar -> scalar.minBytes();
            case AggregateType<?> aggregate -> aggregate.layout().alignment();
            default ->
                    throw new IllegalArgumentException(
                            "an aggregate holds scalars and aggregates, not " + member);
        };
    }

    private static int gap(int offset, int alignment) {
        return (alignment - offset % alignment) % alignment;
    }

    boolean hasGaps() {
        return tailGap != 0 || gapsBefore.stream().anyMatch(gap -> gap != 0);
    }

    /** Members, the pack alignment, the alignment: equal for every aggregate without #pragma. */
    ByteString literal() {
        ByteString size = TypeLiteral.size(alignment);
        return TypeLiteral.enclosed(TypeLiteral.STRUCT, members, size, size);
    }

    Object[] read(WireReader reader) {
        Object[] values = new Object[members.size()];
        for (int i = 0; i < values.length; i++) {
            reader.skip(gapsBefore.get(i));
            values[i] = members.get(i).read(reader);
        }
        reader.skip(tailGap);
        return values;
    }

    @SuppressWarnings("unchecked") // The caller takes its value apart in the members' order.
    void write(WireWriter writer, Object[] values) {
        for (int i = 0; i < values.length; i++) {
            writer.zeros(gapsBefore.get(i));
            ((WireType<Object>) members.get(i)).write(writer, values[i]);
        }
        writer.zeros(tailGap);
    }
}
