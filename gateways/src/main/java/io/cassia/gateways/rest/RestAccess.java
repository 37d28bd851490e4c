package io.cassia.gateways.rest;

import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * Who may ask the REST service, and whether others can listen. Immutable.
 *
 * @param keyStore PKCS#12 file with the service's key and certificate, for HTTPS; none: HTTP
 * @param password of that file
 * @param token what requests must carry as {@code Authorization: Bearer}, except for {@code
 *     /health}; empty: everybody may ask
 */
public record RestAccess(Optional<Path> keyStore, String password, String token) {
    /** Plain HTTP for everybody, as upstream. */
    public static final RestAccess OPEN = new RestAccess(Optional.empty(), "", "");

    private static final int MIN_TOKEN_CHARS = 16;
    private static final String SCHEME = "Bearer ";

    public RestAccess {
        if (!token.isEmpty() && token.length() < MIN_TOKEN_CHARS) {
            throw new IllegalArgumentException(
                    "the token has fewer than " + MIN_TOKEN_CHARS + " characters");
        }
    }

    /** Compares in a time that tells nothing. */
    boolean allows(Optional<String> authorization) {
        return token.isEmpty()
                || authorization
                        .filter(header -> header.startsWith(SCHEME))
                        .map(header -> header.substring(SCHEME.length()).strip())
                        .filter(
                                given ->
                                        MessageDigest.isEqual(
                                                given.getBytes(StandardCharsets.UTF_8),
                                                token.getBytes(StandardCharsets.UTF_8)))
                        .isPresent();
    }

    /** What a server with this key store speaks; INVALID_PARAMS when it cannot be opened. */
    static Outcome<SSLContext> tls(Path keyStore, String password) {
        try {
            KeyStore keys = KeyStore.getInstance(keyStore.toFile(), password.toCharArray());
            KeyManagerFactory managers =
                    KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            managers.init(keys, password.toCharArray());
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(managers.getKeyManagers(), null, null);
            return Outcome.ok(context);
        } catch (IOException | GeneralSecurityException e) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "key store of the REST service %s: %s".formatted(keyStore, e));
        }
    }

    /** Without the secrets: configurations are logged. */
    @Override
    public String toString() {
        return "RestAccess[keyStore=%s, token=%s]"
                .formatted(keyStore.map(Path::toString).orElse(""), token.isEmpty() ? "" : "***");
    }
}
