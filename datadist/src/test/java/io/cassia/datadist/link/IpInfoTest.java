package io.cassia.datadist.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.Expect;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class IpInfoTest {
    @ParameterizedTest
    @CsvSource({
        "127.0.0.1:26000, 127.0.0.1, 26000",
        "0.0.0.0:1, 0.0.0.0, 1",
        "255.255.255.255:65535, 255.255.255.255, 65535",
        "[::1]:26000, ::1, 26000",
        "[fe80::1%1]:80, fe80::1%1, 80",
        "decoder-3.kv.example:26000, decoder-3.kv.example, 26000",
        "localhost:9, localhost, 9",
    })
    void addresses_and_names_have_a_port(String text, String host, int port) {
        IpInfo info = new IpInfo(host, port);
        assertThat(IpInfo.parse(text).orThrow()).isEqualTo(info);
        assertThat(info.toString()).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // The vectors of the spec (2.2)
                "127.0.0.1",
                "127.0.1:26000",
                "256.0.0.1:26000",
                ":-1",
                ":",
                ":a",
                // and more
                "",
                "127.0.0.1:",
                "127.0.0.1:a",
                "127.0.0.1:0",
                "127.0.0.1:65536",
                "127.0.0.1:-1",
                "127.0.0.01:26000",
                "1.2.3.4.5:26000",
                "1.2.3.:26000",
                "::1:26000",
                "[::1:26000",
                "[1:2]:26000",
                "-a:26000",
                "a b:26000",
                "a..b:26000",
            })
    void what_is_no_address_is_refused(String text) {
        Expect.invalid(IpInfo.parse(text));
    }

    @Test
    void a_name_is_not_taken_for_an_address() {
        assertThat(new IpInfo("example.org", 1).literal()).isEmpty();
        assertThat(new IpInfo("10.0.0.1", 1).literal()).isPresent();
        assertThat(new IpInfo("2001:db8::1", 1).literal()).isPresent();
    }
}
