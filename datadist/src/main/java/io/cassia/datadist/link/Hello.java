package io.cassia.datadist.link;

import io.cassia.base.ByteString;

/**
 * First message of the dialling side. Immutable.
 *
 * @param unlink whether it only tells that it gave up a broken link; otherwise it wants a link
 * @param targetId cluster that it wants to talk to
 * @param self who it is
 * @param nonce 16 random bytes
 * @param budgetMillis time it is going to wait
 */
record Hello(boolean unlink, long targetId, Peer self, ByteString nonce, int budgetMillis) {
    static final int NONCE_BYTES = 16;

    ByteString encode() {
        WireWriter out = new WireWriter().flag(unlink).i64(targetId).bytes(nonce).i32(budgetMillis);
        return self.write(out).toBody();
    }

    static Hello decode(ByteString body) {
        WireReader in = new WireReader(body);
        boolean unlink = in.flag();
        long targetId = in.i64();
        ByteString nonce = in.bytes();
        requireNonce(nonce);
        int budgetMillis = in.i32();
        return new Hello(unlink, targetId, Peer.read(in), nonce, budgetMillis);
    }

    static void requireNonce(ByteString nonce) {
        if (nonce.length() != NONCE_BYTES) {
            throw new WireReader.Malformed("a nonce of " + nonce.length() + " bytes");
        }
    }
}
