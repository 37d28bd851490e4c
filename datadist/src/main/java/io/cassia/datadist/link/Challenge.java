package io.cassia.datadist.link;

import io.cassia.base.ByteString;

/**
 * Answer of the listening side to {@link Hello}. Immutable.
 *
 * @param self who it is
 * @param nonce 16 random bytes
 * @param tokenRequired whether the dialling side has to prove the token
 */
record Challenge(Peer self, ByteString nonce, boolean tokenRequired) {
    ByteString encode() {
        return self.write(new WireWriter().bytes(nonce).flag(tokenRequired)).toBody();
    }

    static Challenge decode(ByteString body) {
        WireReader in = new WireReader(body);
        ByteString nonce = in.bytes();
        Hello.requireNonce(nonce);
        boolean tokenRequired = in.flag();
        return new Challenge(Peer.read(in), nonce, tokenRequired);
    }
}
