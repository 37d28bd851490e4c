package io.cassia.transfer.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PeerFilterTest {
    private static boolean allows(String filter, String address) {
        return PeerFilter.parse(filter)
                .allows(new InetSocketAddress(InetAddress.ofLiteral(address), 1));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "10.0.0.0/8|10.255.1.2|true",
                "10.0.0.0/8|11.0.0.1|false",
                "10.0.0.128/25|10.0.0.200|true",
                "10.0.0.128/25|10.0.0.127|false",
                "127.0.0.1|127.0.0.1|true",
                "127.0.0.1|127.0.0.2|false",
                "0.0.0.0/0|9.9.9.9|true",
                "0.0.0.0/0|::1|false",
                "fd00::/9|fd7f::1|true",
                "fd00::/9|fd80::1|false",
                "10.0.0.1, ::1|::1|true",
                "10.0.0.1|::ffff:10.0.0.1|true",
                "'' |9.9.9.9|true"
            })
    void peers_of_the_networks_alone_may_come(String filter, String address, boolean may) {
        assertThat(allows(filter, address)).isEqualTo(may);
    }

    @Test
    void sockets_of_the_host_are_not_a_matter_of_networks() {
        assertThat(PeerFilter.parse("10.0.0.1").allows(UnixDomainSocketAddress.of("x"))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/x", "::1/129", "/8"})
    void what_is_no_network_is_refused(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> PeerFilter.parse(text));
    }
}
