package io.cassia.datadist.link;

import io.cassia.base.ByteString;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.net.ssl.SSLContext;

/**
 * How an instance proves itself on control connections. Immutable.
 *
 * @param token shared secret; with it, both sides prove that they know it and nobody else links
 * @param tls certificates for control connections; with it, nothing is sent in plain text
 * @param verifyHost whether a certificate has to name the host that was dialled
 */
public record Credentials(Optional<ByteString> token, Optional<Tls> tls, boolean verifyHost) {
    /** Plain connections to whoever comes. */
    public static final Credentials NONE =
            new Credentials(Optional.empty(), Optional.empty(), false);

    /**
     * Key material of an instance. Immutable.
     *
     * @param context where keys and trust come from
     */
    public record Tls(SSLContext context) {}

    /**
     * HMAC-SHA256 over both nonces, both identities and the side that proves; empty without a
     * token.
     */
    ByteString proof(String side, Hello hello, Challenge challenge) {
        return token.map(secret -> hmac(secret, side, hello, challenge)).orElse(ByteString.EMPTY);
    }

    boolean accepts(ByteString proof, String side, Hello hello, Challenge challenge) {
        return token.isEmpty()
                || MessageDigest.isEqual(
                        proof.array(), hmac(token.get(), side, hello, challenge).array());
    }

    private static ByteString hmac(
            ByteString secret, String side, Hello hello, Challenge challenge) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.array(), "HmacSHA256"));
            mac.update(("cassia datadist " + side).getBytes(StandardCharsets.UTF_8));
            mac.update(hello.encode().array());
            mac.update(challenge.encode().array());
            return ByteString.wrap(mac.doFinal());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HmacSHA256", e);
        }
    }

    @Override
    public String toString() {
        return "token=" + (token.isPresent() ? "set" : "none") + " tls=" + tls.isPresent();
    }
}
