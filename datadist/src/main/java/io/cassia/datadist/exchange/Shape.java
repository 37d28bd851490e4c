package io.cassia.datadist.exchange;

import io.cassia.datadist.link.WireReader;
import io.cassia.datadist.link.WireWriter;

/**
 * How the bytes of one tensor lie at the side that is asked, for its checks. Immutable. Sizes and
 * offsets are in bytes.
 */
sealed interface Shape {
    /** A part of one batch to a part of one batch. */
    record Span(long offset, long size) implements Shape {}

    /** Blocks to blocks; {@code maxBlock} is the largest of the asked side. */
    record Blocks(long blockBytes, long maxBlock) implements Shape {}

    /** One batch, from its start, cut into blocks of the destination. */
    record BatchToBlocks(long extent, long blockBytes, long maxBlock) implements Shape {}

    default WireWriter write(WireWriter out) {
        return switch (this) {
            case Span(long offset, long size) -> out.u8(1).varint(offset).varint(size);
            case Blocks(long blockBytes, long maxBlock) ->
                    out.u8(2).varint(blockBytes).varint(maxBlock);
            case BatchToBlocks(long extent, long blockBytes, long maxBlock) ->
                    out.u8(3).varint(extent).varint(blockBytes).varint(maxBlock);
        };
    }

    static Shape read(WireReader in) {
        int kind = in.u8();
        return switch (kind) {
            case 1 -> new Span(in.varint(), in.varint());
            case 2 -> new Blocks(in.varint(), in.varint());
            case 3 -> new BatchToBlocks(in.varint(), in.varint(), in.varint());
            default -> throw new WireReader.Malformed("shape " + kind);
        };
    }
}
