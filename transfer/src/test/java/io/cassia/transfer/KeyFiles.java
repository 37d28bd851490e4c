package io.cassia.transfer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Certificates made for a test: each file is a key and the only authority for it. Immutable. */
final class KeyFiles {
    static final String PASSWORD = "a password of the test";

    private KeyFiles() {}

    /**
     * Makes a file.
     *
     * @param names what the certificate is good for, as keytool writes it
     */
    static Path make(Path directory, String name, String names) throws Exception {
        Path file = directory.resolve(name + ".p12");
        Process keytool =
                new ProcessBuilder(
                                List.of(
                                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                                .toString(),
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
                                        "san=" + names,
                                        "-storetype",
                                        "PKCS12",
                                        "-storepass",
                                        PASSWORD,
                                        "-keystore",
                                        file.toString()))
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve(name + ".log").toFile())
                        .start();
        if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
            throw new IOException(Files.readString(directory.resolve(name + ".log")));
        }
        return file;
    }
}
