package io.cassia.datadist.exchange;

import io.cassia.base.ByteString;
import io.cassia.datadist.cache.Pieces;
import io.cassia.datadist.link.WireReader;
import io.cassia.datadist.link.WireWriter;

/**
 * Asks the receiver to fetch from the sender. Immutable.
 *
 * @param target where to
 * @param shape how the bytes lie at the receiver
 * @param pieces what to fetch: source offsets from the granted addresses, destination offsets from
 *     the start of the batch, or of the tensor for blocks and addresses
 * @param grant leave to read the sender's memory
 * @param budgetMicros time that the sender has left
 */
record PushRequest(
        PushTarget target, Shape shape, Pieces pieces, GrantMessage grant, long budgetMicros) {
    ByteString encode() {
        WireWriter out = shape.write(target.write(new WireWriter()));
        grant.write(out).varint(budgetMicros).varint(pieces.count());
        long src = 0;
        long dst = 0;
        for (int i = 0; i < pieces.count(); i++) {
            out.signed(pieces.srcOffset(i) - src)
                    .signed(pieces.dstOffset(i) - dst)
                    .varint(pieces.lengthBytes(i));
            src = pieces.srcOffset(i) + pieces.lengthBytes(i);
            dst = pieces.dstOffset(i) + pieces.lengthBytes(i);
        }
        return out.toBody();
    }

    static PushRequest decode(ByteString body) {
        WireReader in = new WireReader(body);
        PushTarget target = PushTarget.read(in);
        Shape shape = Shape.read(in);
        GrantMessage grant = GrantMessage.read(in);
        long budgetMicros = in.varint();
        int count = in.count(3);
        Pieces.Builder pieces = new Pieces.Builder(count);
        long src = 0;
        long dst = 0;
        for (int i = 0; i < count; i++) {
            src += in.signed();
            dst += in.signed();
            long length = in.varint();
            if (src < 0 || dst < 0 || length < 1 || src + length < 0 || dst + length < 0) {
                throw new WireReader.Malformed("a piece with offsets out of range");
            }
            pieces.add(src, dst, length);
            src += length;
            dst += length;
        }
        return new PushRequest(target, shape, pieces.build(), grant, budgetMicros);
    }
}
