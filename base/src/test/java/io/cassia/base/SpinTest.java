package io.cassia.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.Test;

class SpinTest {
    private long now;
    private long stepNanos = 1_000;

    private final Clock clock =
            new Clock() {
                @Override
                public long nanos() {
                    long then = now;
                    now += stepNanos;
                    return then;
                }

                @Override
                public long epochMillis() {
                    return 0;
                }
            };

    /** A socket into which bytes come at one of the looks; never, if that is 0. */
    private static final class Socket extends InputStream {
        private int looks;
        private int arrival;

        @Override
        public int available() {
            looks++;
            return arrival > 0 && looks >= arrival ? 1 : 0;
        }

        @Override
        public int read() {
            throw new AssertionError("only its arrivals are asked for");
        }

        @Override
        public int read(byte[] into, int offset, int length) {
            return read();
        }

        int looks() {
            int taken = looks;
            looks = 0;
            return taken;
        }
    }

    private final Socket socket = new Socket();
    private final Spin spin = new Spin(clock);

    @Test
    void what_comes_soon_is_seen() throws IOException {
        socket.arrival = 5;
        for (int i = 0; i < 10; i++) {
            assertThat(spin.sees(socket)).isTrue();
            assertThat(socket.looks()).isEqualTo(5);
        }
    }

    @Test
    void vain_looks_become_rarer_and_one_success_brings_them_back() throws IOException {
        int looked = 0;
        for (int i = 0; i < 1_000; i++) {
            assertThat(spin.sees(socket)).isFalse();
            looked += socket.looks() > 0 ? 1 : 0;
        }
        // Pauses of 1, 2, 4 and so on lie between them.
        assertThat(looked).isBetween(9, 11);

        socket.arrival = 1;
        while (!spin.sees(socket)) {
            assertThat(socket.looks()).isZero();
        }
        assertThat(socket.looks()).isEqualTo(1);
        assertThat(spin.sees(socket)).isTrue();
    }

    @Test
    void a_wait_is_short() throws IOException {
        assertThat(spin.sees(socket)).isFalse();
        assertThat(socket.looks()).isLessThan(100);
    }

    @Test
    void a_clock_that_stands_still_ends_it_too() throws IOException {
        stepNanos = 0;
        assertThat(spin.sees(socket)).isFalse();
        assertThat(socket.looks()).isBetween(2, 10_000);
    }

    @Test
    void who_takes_the_core_from_somebody_else_lets_go() throws IOException {
        stepNanos = 100_000;
        assertThat(spin.sees(socket)).isFalse();
        assertThat(socket.looks()).isEqualTo(1);
        int asleep = 0;
        while (!spin.sees(socket) && socket.looks() == 0) {
            asleep++;
        }
        // More than after looks in vain, of which this was the first.
        assertThat(asleep).isGreaterThan(2);
    }

    @Test
    void who_lets_others_answer_in_turn_stays_awake() throws IOException {
        stepNanos = 20_000;
        socket.arrival = 3;
        for (int i = 0; i < 100; i++) {
            assertThat(spin.sees(socket)).isTrue();
            assertThat(socket.looks()).isEqualTo(3);
        }
    }

    @Test
    void who_is_patient_goes_on_after_somebody_else_had_the_core() throws IOException {
        stepNanos = 20_000;
        Spin patient = Spin.patient(clock);
        socket.arrival = 3;
        assertThat(patient.sees(socket)).isTrue();
        int _ = socket.looks();
        socket.arrival = 0;
        assertThat(patient.sees(socket)).isFalse();
        assertThat(socket.looks()).isBetween(2, 10);
        int asleep = 0;
        for (int i = 0; i < 1_000; i++) {
            boolean _ = patient.sees(socket);
            asleep = socket.looks() > 0 ? 0 : asleep + 1;
            assertThat(asleep).isLessThanOrEqualTo(16);
        }
    }

    @Test
    void virtual_threads_leave_waiting_to_their_scheduler() throws Exception {
        Thread thread =
                Thread.ofVirtual()
                        .start(
                                () -> {
                                    try {
                                        boolean _ = spin.sees(socket);
                                    } catch (IOException e) {
                                        throw new AssertionError(e);
                                    }
                                });
        thread.join();
        assertThat(socket.looks()).isZero();
    }

    @Test
    void a_longer_wait_looks_for_longer_and_lets_others_run_for_longer() {
        int[] looks = new int[1];
        stepNanos = 20_000;
        Spin.Look<RuntimeException> soon = () -> ++looks[0] == 40;
        assertThat(spin.sees(soon, 1_000_000)).isTrue();
        assertThat(looks[0]).isEqualTo(40);

        looks[0] = 100;
        assertThat(spin.sees(soon, 1_000_000)).isFalse();
        assertThat(looks[0]).isBetween(140, 160);
    }

    @Test
    void a_longer_wait_ends_too_when_the_clock_stands_still() {
        int[] looks = new int[1];
        stepNanos = 0;
        assertThat(
                        spin.sees(
                                () -> {
                                    looks[0]++;
                                    return false;
                                },
                                1_000_000))
                .isFalse();
        assertThat(looks[0]).isBetween(2, 100_000);
    }
}
