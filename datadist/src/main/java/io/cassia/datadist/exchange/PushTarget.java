package io.cassia.datadist.exchange;

import io.cassia.datadist.cache.CacheRef;
import io.cassia.datadist.link.WireReader;
import io.cassia.datadist.link.WireWriter;
import java.util.ArrayList;
import java.util.List;

/** Where a push goes. Immutable. */
sealed interface PushTarget {
    /** Layers of a cache. */
    record ToCache(CacheRef ref, int firstLayer, int lastLayer, int tensorsPerLayer)
            implements PushTarget {}

    /** Tensors at addresses inside one cache, each with room for so many bytes. */
    record ToAddresses(List<Long> starts, long lengthBytes) implements PushTarget {
        public ToAddresses {
            starts = List.copyOf(starts);
        }
    }

    default WireWriter write(WireWriter out) {
        return switch (this) {
            case ToCache(CacheRef ref, int first, int last, int perLayer) ->
                    Refs.write(out.u8(1), ref).signed(first).signed(last).varint(perLayer);
            case ToAddresses(List<Long> starts, long lengthBytes) -> {
                out.u8(2).varint(starts.size());
                for (long start : starts) {
                    out.i64(start);
                }
                yield out.varint(lengthBytes);
            }
        };
    }

    static PushTarget read(WireReader in) {
        int kind = in.u8();
        if (kind == 1) {
            return new ToCache(
                    Refs.read(in), (int) in.signed(), (int) in.signed(), (int) in.varint());
        }
        if (kind != 2) {
            throw new WireReader.Malformed("push target " + kind);
        }
        int count = in.count(8);
        List<Long> starts = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            starts.add(in.i64());
        }
        return new ToAddresses(starts, in.varint());
    }
}
