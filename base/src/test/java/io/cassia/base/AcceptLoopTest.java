package io.cassia.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

class AcceptLoopTest {
    private final BlockingQueue<SocketChannel> admitted = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();

    // Of the loop's thread.
    private int connections;

    private void admit(SocketChannel channel) throws IOException {
        connections++;
        admitted.add(channel);
        switch (connections) {
            case 1 -> throw new IllegalStateException("first");
            case 2 -> throw new IOException("second");
            default -> {}
        }
    }

    @Test
    void a_connection_that_cannot_be_admitted_is_closed_and_others_are_served() throws Exception {
        Thread loop;
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            int port = listener.socket().getLocalPort();
            loop =
                    Thread.ofPlatform()
                            .daemon()
                            .start(() -> AcceptLoop.run(listener, this::admit, failures::add));
            for (String why : new String[] {"first", "second"}) {
                try (Socket refused = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    assertThat(refused.getInputStream().read()).isNegative();
                    assertThat(failures.take()).hasMessage(why);
                }
            }
            try (Socket served = new Socket(InetAddress.getLoopbackAddress(), port)) {
                served.getOutputStream().write(7);
                assertThat(admitted.take().isOpen()).isFalse();
                assertThat(admitted.take().isOpen()).isFalse();
                try (SocketChannel third = admitted.take()) {
                    assertThat(third.socket().getInputStream().read()).isEqualTo(7);
                }
            }
        }
        assertThat(loop.join(Duration.ofSeconds(30))).isTrue();
        assertThat(failures).isEmpty();
    }
}
