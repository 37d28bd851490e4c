package io.cassia.transfer.transport.shm;

import io.cassia.transfer.metadata.HostAccess;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Shows that whoever wrote a descriptor can read the control file that it names, and wrote it for
 * this very segment. Immutable.
 *
 * <p>The key is the secret in the file, which the kernel shows to processes of the owner's user
 * only. Somebody who can write to the metadata store, or answers in a peer's place, but cannot read
 * the file, cannot make such a proof; and one that was copied from another descriptor does not fit
 * the name and port of this one. Engines that must prove more to each other over the network do so
 * here, too: the realm is part of what the proof says.
 */
final class Proof {
    private static final String ALGORITHM = "HmacSHA256";

    private Proof() {}

    /**
     * What a proof is for. Immutable.
     *
     * @param realm of the engines that trust each other
     */
    record Claim(String segment, int dataPort, String realm) {}

    /** The proof of an access; the one that it may carry already does not matter. */
    static String of(HostAccess access, Claim claim, byte[] secret) {
        String text =
                String.join(
                        "\n",
                        access.boot(),
                        Long.toString(access.user()),
                        Long.toString(access.pidNamespace()),
                        access.control(),
                        String.join(",", access.transports()),
                        Integer.toString(claim.dataPort()),
                        claim.realm(),
                        claim.segment());
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(secret, ALGORITHM));
            return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JDK has no " + ALGORITHM, e);
        }
    }

    /** Whether an access carries the right one. */
    static boolean isBorneOut(HostAccess access, Claim claim, byte[] secret) {
        return MessageDigest.isEqual(
                of(access, claim, secret).getBytes(StandardCharsets.UTF_8),
                access.proof().getBytes(StandardCharsets.UTF_8));
    }
}
