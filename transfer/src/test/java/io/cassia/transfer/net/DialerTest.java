package io.cassia.transfer.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DialerTest {
    private static final long SECOND = 1_000_000_000;

    private final Clock clock = Clock.system();
    private final Dialer dialer = new Dialer(clock, Duration.ofSeconds(5));

    private long in(long nanos) {
        return clock.nanos() + nanos;
    }

    @Test
    void each_address_is_tried_until_one_answers() throws IOException {
        List<InetAddress> both =
                List.of(InetAddress.ofLiteral("127.0.0.2"), InetAddress.ofLiteral("127.0.0.1"));
        try (ServerSocket listener = new ServerSocket(0, 1, both.get(1))) {
            try (SocketChannel channel =
                    dialer.connect("two", both, listener.getLocalPort(), in(5 * SECOND))
                            .orThrow()) {
                assertThat(channel.isConnected()).isTrue();
                assertThat(channel.isBlocking()).isTrue();
            }
        }
    }

    @Test
    void a_failure_tells_the_cause_for_each_address() throws IOException {
        int free;
        try (ServerSocket socket = new ServerSocket(0)) {
            free = socket.getLocalPort();
        }
        List<InetAddress> both =
                List.of(InetAddress.ofLiteral("127.0.0.2"), InetAddress.ofLiteral("127.0.0.1"));
        assertThat(dialer.connect("two", both, free, in(5 * SECOND)))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(TransferCode.ERR_SOCKET);
                            assertThat(failed.detail())
                                    .contains("two port " + free)
                                    .contains("127.0.0.2:" + free + ": Connection refused")
                                    .contains("127.0.0.1:" + free + ": Connection refused");
                        });
    }

    @Test
    void without_time_nothing_is_tried() {
        assertThat(dialer.connect("127.0.0.1", 1, in(-1)))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> assertThat(failed.detail()).contains("deadline is over"));
    }

    @Test
    void names_and_literals_are_resolved() {
        assertThat(dialer.resolve("::1", in(0)).orThrow())
                .containsExactly(InetAddress.ofLiteral("::1"));
        assertThat(dialer.resolve("localhost", in(5 * SECOND)).orThrow())
                .allMatch(InetAddress::isLoopbackAddress)
                .isNotEmpty();
        assertThat(dialer.resolve("no-such-host.invalid", in(5 * SECOND)))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(TransferCode.ERR_DNS);
                            assertThat(failed.detail()).contains("no-such-host.invalid");
                        });
    }
}
