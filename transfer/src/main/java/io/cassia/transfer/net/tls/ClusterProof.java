package io.cassia.transfer.net.tls;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Both ends of a TLS connection prove that they know the cluster's token, without telling it.
 * Immutable.
 *
 * <pre>
 *   client ──►  | "CASSIA01" | HMAC(token, "client" keys) : 32 |
 *   server ◄──  | verdict: 1 | HMAC(token, "server" keys) : 32 |     zeros unless the verdict is 1
 * </pre>
 *
 * The keys are exported from the TLS session, so that a proof is worth nothing on another
 * connection.
 */
final class ClusterProof {
    /** The peer does not know the token, or is none of ours; the message says which. */
    static final class RefusedException extends IOException {
        private static final long serialVersionUID = 1L;

        RefusedException(String message) {
            super(message);
        }
    }

    private static final String MAC = "HmacSHA256";
    private static final int MAC_BYTES = 32;
    private static final String LABEL = "EXPORTER-cassia-cluster";
    private static final byte[] MAGIC = "CASSIA01".getBytes(StandardCharsets.US_ASCII);
    private static final byte ACCEPTED = 1;

    private final SecretKeySpec token;

    ClusterProof(String token) {
        this.token = new SecretKeySpec(token.getBytes(StandardCharsets.UTF_8), MAC);
    }

    private byte[] of(String role, TlsWire wire) throws IOException {
        try {
            Mac mac = Mac.getInstance(MAC);
            mac.init(token);
            mac.update(role.getBytes(StandardCharsets.US_ASCII));
            return mac.doFinal(wire.exported(LABEL, MAC_BYTES));
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    void asClient(TlsWire wire) throws IOException {
        wire.write(
                ByteBuffer.allocate(MAGIC.length + MAC_BYTES)
                        .put(MAGIC)
                        .put(of("client", wire))
                        .flip());
        byte[] answer;
        try {
            answer = receive(wire, 1 + MAC_BYTES);
        } catch (EOFException e) {
            // TLS 1.3 tells a client only now that its certificate was not taken.
            throw new RefusedException("the peer closed: it may not accept our certificate");
        }
        if (answer[0] != ACCEPTED) {
            throw new RefusedException("the peer does not accept our cluster token");
        }
        require("server", wire, ByteBuffer.wrap(answer, 1, MAC_BYTES));
    }

    void asServer(TlsWire wire) throws IOException {
        byte[] claim = receive(wire, MAGIC.length + MAC_BYTES);
        ByteBuffer verdict = ByteBuffer.allocate(1 + MAC_BYTES);
        try {
            if (!ByteBuffer.wrap(claim, 0, MAGIC.length).equals(ByteBuffer.wrap(MAGIC))) {
                throw new RefusedException("the peer speaks TLS, but not as an engine");
            }
            require("client", wire, ByteBuffer.wrap(claim, MAGIC.length, MAC_BYTES));
        } catch (RefusedException e) {
            wire.write(verdict);
            wire.linger();
            throw e;
        }
        wire.write(verdict.put(ACCEPTED).put(of("server", wire)).flip());
    }

    private void require(String role, TlsWire wire, ByteBuffer claim) throws IOException {
        byte[] claimed = new byte[claim.remaining()];
        claim.get(claimed);
        if (!MessageDigest.isEqual(claimed, of(role, wire))) {
            throw new RefusedException("the peer does not know our cluster token");
        }
    }

    private static byte[] receive(TlsWire wire, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        while (bytes.hasRemaining()) {
            if (wire.read(bytes) < 0) {
                throw new EOFException("closed by the peer after " + bytes.position() + " bytes");
            }
        }
        return bytes.array();
    }
}
