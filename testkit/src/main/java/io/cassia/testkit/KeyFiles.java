package io.cassia.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Certificates made for a test by the JDK's keytool: each PKCS#12 file holds a key and its
 * self-signed certificate, which makes it the only authority for itself. Immutable.
 */
public final class KeyFiles {
    /** Opens every file. */
    public static final String PASSWORD = "a password of the test";

    private static final int PATIENCE_SECONDS = 60;

    private KeyFiles() {}

    /**
     * Makes a file.
     *
     * @param name of the file and of the certificate's subject
     * @param goodFor the hosts, as keytool writes them: {@code ip:127.0.0.1,dns:localhost}
     */
    public static Path make(Path directory, String name, String goodFor)
            throws IOException, InterruptedException {
        Path file = directory.resolve(name + ".p12");
        Path log = directory.resolve(name + ".log");
        String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        List<String> command =
                List.of(
                        keytool,
                        "-J-XX:TieredStopAtLevel=1",
                        "-genkeypair",
                        "-alias",
                        name,
                        "-keyalg",
                        "EC",
                        "-groupname",
                        "secp256r1",
                        "-validity",
                        "2",
                        "-dname",
                        "CN=" + name,
                        "-ext",
                        "san=" + goodFor,
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        PASSWORD,
                        "-keystore",
                        file.toString());
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start();
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IOException("keytool did not end within " + PATIENCE_SECONDS + " s");
        }
        if (process.exitValue() != 0) {
            throw new IOException(Files.readString(log));
        }
        return file;
    }
}
