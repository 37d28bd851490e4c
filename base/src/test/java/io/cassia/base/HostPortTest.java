package io.cassia.base;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HostPortTest {
    @Test
    void names_and_literals_are_split_at_the_port() {
        assertThat(HostPort.parse("node1:50051", 0)).contains(new HostPort("node1", 50051));
        assertThat(HostPort.parse("127.0.0.1:1", 0)).contains(new HostPort("127.0.0.1", 1));
        assertThat(HostPort.parse("[::1]:80", 0)).contains(new HostPort("::1", 80));
        assertThat(HostPort.parse("[fe80::1%eth0]:80", 0))
                .contains(new HostPort("fe80::1%eth0", 80));
    }

    @Test
    void a_missing_port_is_the_default_one() {
        assertThat(HostPort.parse("node1", 12001)).contains(new HostPort("node1", 12001));
        assertThat(HostPort.parse("::1", 12001)).contains(new HostPort("::1", 12001));
        assertThat(HostPort.parse("[::1]", 12001)).contains(new HostPort("::1", 12001));
        assertThat(HostPort.parse("node1", 0)).isEmpty();
    }

    @Test
    void what_is_no_address_is_refused() {
        for (String text :
                new String[] {
                    "", ":", ":80", "a:", "a:b", "a:0", "a:65536", "a:-1", "[::1", "[::1]x"
                }) {
            assertThat(HostPort.parse(text, 0)).as(text).isEmpty();
        }
    }

    @Test
    void text_form_reads_back() {
        for (String text : new String[] {"node1:5", "[::1]:5"}) {
            assertThat(HostPort.parse(text, 0).map(HostPort::toString)).contains(text);
        }
    }
}
