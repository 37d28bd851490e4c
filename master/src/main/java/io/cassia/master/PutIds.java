package io.cassia.master;

import io.cassia.base.ByteString;
import io.cassia.rpc.Attachment;
import io.cassia.rpc.RpcContext;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/**
 * Immutable. Which puts or copies the items of an End or Revoke mean, from {@link Attachment#PUTS};
 * upstream's clients do not say.
 */
final class PutIds {
    private PutIds() {}

    static List<Long> of(RpcContext context) {
        return context.request().find(Attachment.PUTS).map(PutIds::decode).orElse(List.of());
    }

    static long first(RpcContext context) {
        List<Long> ids = of(context);
        return ids.isEmpty() ? 0 : ids.getFirst();
    }

    private static List<Long> decode(ByteString content) {
        ByteBuffer bytes = ByteBuffer.wrap(content.array()).order(ByteOrder.LITTLE_ENDIAN);
        List<Long> ids = new ArrayList<>(content.length() / Long.BYTES);
        while (bytes.remaining() >= Long.BYTES) {
            ids.add(bytes.getLong());
        }
        return ids;
    }

    /** Calls for each piece of the items with the ids that belong to it. */
    static <I, R> List<R> inPieces(
            List<I> items,
            List<Long> ids,
            int longest,
            BiFunction<List<I>, List<Long>, List<R>> f) {
        List<R> answers = new ArrayList<>(items.size());
        for (int from = 0; from < items.size(); from += longest) {
            int to = Math.min(items.size(), from + longest);
            List<Long> own =
                    ids.size() <= from ? List.of() : ids.subList(from, Math.min(ids.size(), to));
            answers.addAll(f.apply(items.subList(from, to), own));
        }
        return answers;
    }
}
