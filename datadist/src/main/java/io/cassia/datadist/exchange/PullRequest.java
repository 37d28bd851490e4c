package io.cassia.datadist.exchange;

import io.cassia.base.ByteString;
import io.cassia.datadist.cache.CacheRef;
import io.cassia.datadist.cache.LayerRange;
import io.cassia.datadist.link.WireReader;
import io.cassia.datadist.link.WireWriter;

/**
 * Asks the owner of a cache to let this side read it. Immutable.
 *
 * @param source what to read
 * @param layers layers of the source
 * @param tensorsPerLayer tensors that make a layer
 * @param tensors tensors that the destination has selected
 * @param shape how the bytes lie
 * @param mayConsume whether a success may consume the key: not when offsets are used
 * @param budgetMicros time that the puller has left
 * @param keyWaitMicros time that the owner may wait for the source to be there
 */
record PullRequest(
        CacheRef source,
        LayerRange layers,
        int tensorsPerLayer,
        int tensors,
        Shape shape,
        boolean mayConsume,
        long budgetMicros,
        long keyWaitMicros) {
    ByteString encode() {
        WireWriter out = Refs.write(new WireWriter(), source);
        out.signed(layers.first()).signed(layers.last()).varint(tensorsPerLayer).varint(tensors);
        return shape.write(out)
                .flag(mayConsume)
                .varint(budgetMicros)
                .varint(keyWaitMicros)
                .toBody();
    }

    static PullRequest decode(ByteString body) {
        WireReader in = new WireReader(body);
        return new PullRequest(
                Refs.read(in),
                new LayerRange((int) in.signed(), (int) in.signed()),
                (int) in.varint(),
                (int) in.varint(),
                Shape.read(in),
                in.flag(),
                in.varint(),
                in.varint());
    }
}
