package io.cassia.lab.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Engines meet under every kind of address, wherever one is accepted. */
class AddressesTest {
    private static final List<String> PLACES =
            List.of("peers", "bind-address", "metadata", "metadata-literal");

    @TempDir private Path directory = Path.of("");

    @Test
    void literals_of_both_families_are_addresses() throws Exception {
        assertThat(meet("127.0.0.1", "")).isEqualTo(PLACES);
        assumeTrue(isUsable(InetAddress.ofLiteral("::1")), "this host has no IPv6");
        assertThat(meet("::1", "")).isEqualTo(PLACES);
    }

    @Test
    void names_with_addresses_of_one_family_alone_are_addresses() throws Exception {
        assertThat(meet("four.test", "127.0.0.1 four.test\n")).isEqualTo(PLACES);
        assumeTrue(isUsable(InetAddress.ofLiteral("::1")), "this host has no IPv6");
        assertThat(meet("six.test", "::1 six.test\n")).isEqualTo(PLACES);
        assertThat(meet("both.test", "::1 both.test\n127.0.0.1 both.test\n")).isEqualTo(PLACES);
    }

    @Test
    void an_address_with_a_zone_is_an_address() throws Exception {
        Optional<Inet6Address> linkLocal =
                NetworkInterface.networkInterfaces()
                        .flatMap(NetworkInterface::inetAddresses)
                        .filter(address -> address instanceof Inet6Address)
                        .map(Inet6Address.class::cast)
                        .filter(address -> address.isLinkLocalAddress() && isUsable(address))
                        .findFirst();
        assumeTrue(linkLocal.isPresent(), "this host has no link-local address");
        // Without the metadata server, whose URI has no place for a zone that all clients read.
        assertThat(meet(linkLocal.orElseThrow().getHostAddress(), "")).startsWith("peers");
    }

    private static boolean isUsable(InetAddress address) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(address, 0));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** The places where it worked, in a process that knows these names and no others. */
    private List<String> meet(String host, String names) throws Exception {
        Path hosts = Files.writeString(directory.resolve("hosts"), names);
        Path errors = directory.resolve("errors");
        ProcessBuilder builder =
                new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"));
        if (!names.isEmpty()) {
            builder.command().add("-Djdk.net.hosts.file=" + hosts);
        }
        builder.command().addAll(List.of(NamedPeers.class.getName(), host));
        Process process = builder.redirectError(errors.toFile()).start();
        try {
            String said =
                    new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue())
                    .as("%s: %s%s", host, said, Files.readString(errors))
                    .isIn(0, host.indexOf('%') < 0 ? 0 : 1);
            return said.lines().toList();
        } finally {
            process.destroyForcibly();
        }
    }
}
