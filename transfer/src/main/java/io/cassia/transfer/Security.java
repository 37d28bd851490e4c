package io.cassia.transfer;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;

/**
 * How engines prove to each other who they are. Immutable.
 *
 * <p>Plain engines speak to every peer, Mooncake's too. Secure ones speak to secure ones of the
 * same cluster only: over TLS 1.3, with certificates on both sides, after both have proved that
 * they know the cluster's token. Whoever else comes is refused at once and with a reason.
 */
public sealed interface Security {
    /** Nobody proves anything. */
    Security PLAIN = new Plain();

    /** Nobody proves anything. Immutable. */
    record Plain() implements Security {
        @Override
        public String realm() {
            return "";
        }
    }

    /**
     * TLS with certificates on both sides and a token. Immutable.
     *
     * @param keyStore PKCS#12 file with this engine's key and certificate
     * @param trustStore PKCS#12 file with the authorities that peers' certificates come from
     * @param password of both files
     * @param clusterToken secret of all engines of the cluster, at least 16 characters
     * @param checksHost whether the certificate of a peer must be one of the host that was asked
     *     for; without it, every engine of the cluster may pose as every other one
     */
    record Mutual(
            Path keyStore,
            Path trustStore,
            String password,
            String clusterToken,
            boolean checksHost)
            implements Security {
        private static final int MIN_TOKEN_CHARS = 16;

        public Mutual {
            Objects.requireNonNull(keyStore);
            Objects.requireNonNull(trustStore);
            Objects.requireNonNull(password);
            if (clusterToken.length() < MIN_TOKEN_CHARS) {
                throw new IllegalArgumentException(
                        "the cluster token has fewer than " + MIN_TOKEN_CHARS + " characters");
            }
        }

        @Override
        public String realm() {
            try {
                byte[] all =
                        (trustStore.toAbsolutePath() + "\n" + clusterToken)
                                .getBytes(StandardCharsets.UTF_8);
                return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(all));
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException(e);
            }
        }

        /** Without the secrets: configurations are logged. */
        @Override
        public String toString() {
            return "Mutual[keyStore=%s, trustStore=%s, checksHost=%s]"
                    .formatted(keyStore, trustStore, checksHost);
        }
    }

    /** The secure mode with host names checked. */
    static Security mutual(Path keyStore, Path trustStore, String password, String clusterToken) {
        return new Mutual(keyStore, trustStore, password, clusterToken, true);
    }

    /**
     * Tells clusters apart inside a process: engines of another realm are no neighbours, but peers
     * like any other.
     */
    String realm();
}
