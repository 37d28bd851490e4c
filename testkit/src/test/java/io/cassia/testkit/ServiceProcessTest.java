package io.cassia.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class ServiceProcessTest {
    @Test
    void a_free_port_is_one_that_no_outgoing_connection_takes() throws IOException {
        for (int i = 0; i < 100; i++) {
            int port = ServiceProcess.freePort();
            assertThat(port).isBetween(1024, 32_767);
            try (ServerSocket socket =
                    new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                assertThat(socket.isBound()).isTrue();
            }
        }
    }
}
