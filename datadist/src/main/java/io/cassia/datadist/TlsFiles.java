package io.cassia.datadist;

import io.cassia.base.ByteString;
import io.cassia.datadist.link.Credentials;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.Security;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Confined to one call. Files of keys and certificates, until they are read. */
final class TlsFiles {
    private boolean enabled;
    private boolean dataEnabled;
    private boolean verifyHost = true;
    private String keyStore = "";
    private String trustStore = "";
    private String password = "";

    Done enable(boolean value) {
        enabled = value;
        return Done.DONE;
    }

    Done enableData(boolean value) {
        dataEnabled = value;
        return Done.DONE;
    }

    Done verifyHost(boolean value) {
        verifyHost = value;
        return Done.DONE;
    }

    Done keyStore(String value) {
        keyStore = value;
        return Done.DONE;
    }

    Done trustStore(String value) {
        trustStore = value;
        return Done.DONE;
    }

    Done password(String value) {
        password = value;
        return Done.DONE;
    }

    /** {@code LLM_PARAM_INVALID} when TLS is asked for and a file is missing or cannot be read. */
    Outcome<Credentials> credentials(Optional<ByteString> token) {
        if (!enabled) {
            return Outcome.ok(new Credentials(token, Optional.empty(), false));
        }
        if (keyStore.isEmpty() || trustStore.isEmpty()) {
            return OptionValues.invalid(
                    "option llm.ControlTls needs llm.TlsKeyStore and llm.TlsTrustStore");
        }
        try {
            KeyManagerFactory keys =
                    KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(load(keyStore), password.toCharArray());
            TrustManagerFactory trust =
                    TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(load(trustStore));
            SSLContext context = SSLContext.getInstance("TLSv1.3");
            context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
            return Outcome.ok(
                    new Credentials(token, Optional.of(new Credentials.Tls(context)), verifyHost));
        } catch (IOException | GeneralSecurityException e) {
            return OptionValues.invalid(
                    "options llm.TlsKeyStore %s, llm.TlsTrustStore %s: %s"
                            .formatted(keyStore, trustStore, e));
        }
    }

    /**
     * {@code LLM_PARAM_INVALID} when TLS is asked for on the data plane and the control connections
     * have none, or the token is missing or too short.
     */
    Outcome<Security> dataSecurity(Optional<String> token) {
        if (!dataEnabled) {
            return Outcome.ok(Security.PLAIN);
        }
        if (!enabled || token.isEmpty()) {
            return OptionValues.invalid("option llm.DataTls needs llm.ControlTls=1 and llm.Token");
        }
        try {
            return Outcome.ok(
                    new Security.Mutual(
                            Path.of(keyStore),
                            Path.of(trustStore),
                            password,
                            token.get(),
                            verifyHost));
        } catch (IllegalArgumentException e) {
            return OptionValues.invalid("option llm.Token: " + e.getMessage());
        }
    }

    private KeyStore load(String file) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(Path.of(file))) {
            store.load(in, password.toCharArray());
        }
        return store;
    }
}
