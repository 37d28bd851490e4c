package io.cassia.transfer.net.tls;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;

/** Who this engine is and whom it trusts. Immutable. */
public final class Credentials {
    private static final String TLS = "TLSv1.3";

    private final SSLContext context;
    private final ClusterProof proof;
    private final boolean checksHost;

    private Credentials(SSLContext context, ClusterProof proof, boolean checksHost) {
        this.context = context;
        this.proof = proof;
        this.checksHost = checksHost;
    }

    /**
     * Reads the files. ERR_CONTEXT when one cannot be read, or the password does not open it, or it
     * has no key or no authority.
     *
     * @param checksHost whether the certificate of a peer must be that of the host we asked for
     */
    public static Outcome<Credentials> load(
            Path keyStore, Path trustStore, String password, String token, boolean checksHost) {
        try {
            KeyStore keys = read(keyStore, password);
            KeyStore authorities = read(trustStore, password);
            if (!hasKey(keys)) {
                return failed(keyStore, "it holds no private key");
            }
            KeyManagerFactory own =
                    KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            own.init(keys, password.toCharArray());
            TrustManagerFactory trusted =
                    TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trusted.init(authorities);
            SSLContext context = SSLContext.getInstance(TLS);
            context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
            return Outcome.ok(new Credentials(context, new ClusterProof(token), checksHost));
        } catch (NoSuchFileException e) {
            return failed(Path.of(e.getFile()), "there is no such file");
        } catch (IOException | GeneralSecurityException e) {
            boolean one = keyStore.equals(trustStore);
            return failed(one ? keyStore : keyStore + " or " + trustStore, e.toString());
        }
    }

    private static <T> Outcome<T> failed(Object file, String why) {
        return Outcome.failed(
                TransferCode.ERR_CONTEXT, "the secure mode cannot use %s: %s".formatted(file, why));
    }

    private static KeyStore read(Path file, String password)
            throws IOException, GeneralSecurityException {
        try (InputStream in = Files.newInputStream(file)) {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(in, password.toCharArray());
            return store;
        }
    }

    private static boolean hasKey(KeyStore keys) throws GeneralSecurityException {
        for (String alias : java.util.Collections.list(keys.aliases())) {
            if (keys.isKeyEntry(alias)) {
                return true;
            }
        }
        return false;
    }

    ClusterProof proof() {
        return proof;
    }

    SSLEngine client(String host, int port) {
        // A certificate knows nothing of the interface that leads to the host.
        int zone = host.indexOf('%');
        SSLEngine engine = context.createSSLEngine(zone < 0 ? host : host.substring(0, zone), port);
        engine.setUseClientMode(true);
        SSLParameters parameters = parameters(engine);
        if (checksHost) {
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
        }
        engine.setSSLParameters(parameters);
        return engine;
    }

    SSLEngine server() {
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(false);
        SSLParameters parameters = parameters(engine);
        parameters.setNeedClientAuth(true);
        engine.setSSLParameters(parameters);
        return engine;
    }

    private static SSLParameters parameters(SSLEngine engine) {
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(new String[] {TLS});
        return parameters;
    }
}
