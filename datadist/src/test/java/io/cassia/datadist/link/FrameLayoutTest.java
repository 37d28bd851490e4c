package io.cassia.datadist.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.base.ByteString;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

final class FrameLayoutTest {
    private static final int LIMIT = FrameLayout.MAX_BODY_BYTES;

    @Test
    void bytes_of_a_frame_are_pinned() throws IOException {
        Frame frame = new Frame(FrameType.STATUS, 0x0102030405060708L, true, ByteString.of("ok"));
        byte[] bytes = FrameLayout.encode(frame);
        assertThat(HexFormat.of().formatHex(bytes))
                .isEqualTo(
                        "43444401"
                                + "01"
                                + "08"
                                + "0001"
                                + "0102030405060708"
                                + "00000002"
                                + "6f6b");
        assertThat(read(bytes)).isEqualTo(frame);
    }

    @Test
    void numbers_of_frame_types_are_pinned() {
        assertThat(FrameType.values()).hasSize(12);
        assertThat(FrameType.HELLO.number()).isEqualTo(1);
        assertThat(FrameType.CHALLENGE.number()).isEqualTo(2);
        assertThat(FrameType.PROOF.number()).isEqualTo(3);
        assertThat(FrameType.READY.number()).isEqualTo(4);
        assertThat(FrameType.CONFIRM.number()).isEqualTo(5);
        assertThat(FrameType.PING.number()).isEqualTo(6);
        assertThat(FrameType.UNLINK.number()).isEqualTo(7);
        assertThat(FrameType.STATUS.number()).isEqualTo(8);
        assertThat(FrameType.PULL.number()).isEqualTo(16);
        assertThat(FrameType.GRANT.number()).isEqualTo(17);
        assertThat(FrameType.PUSH.number()).isEqualTo(18);
        assertThat(FrameType.DONE.number()).isEqualTo(19);
    }

    @Test
    void what_is_no_frame_is_named() {
        assertMalformed("GET / HTTP/1.1\r\n\r\n      ", "0x47455420");
        assertMalformed(hex("4344440102080000" + "0000000000000000" + "00000000"), "version 2");
        assertMalformed(hex("4344440101630000" + "0000000000000000" + "00000000"), "type 99");
        assertMalformed(hex("1503030002022800" + "0000000000000000" + "00000000"), "TLS");
    }

    @Test
    void a_length_beyond_the_limit_is_refused_before_anything_is_allocated() {
        assertMalformed(hex("4344440101080000" + "0000000000000000" + "00100001"), "1048577");
        assertMalformed(hex("4344440101080000" + "0000000000000000" + "ffffffff"), "4294967295");
    }

    @Test
    void a_stream_that_ends_inside_a_frame_is_an_end() {
        byte[] whole =
                FrameLayout.encode(new Frame(FrameType.PING, 1, false, ByteString.of("1234")));
        for (int length = 0; length < whole.length; length++) {
            byte[] part = java.util.Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> read(part)).isInstanceOf(EOFException.class);
        }
    }

    private static Frame read(byte[] bytes) throws IOException {
        return FrameLayout.read(new DataInputStream(new ByteArrayInputStream(bytes)), LIMIT);
    }

    private static byte[] hex(String text) {
        return HexFormat.of().parseHex(text);
    }

    private static void assertMalformed(String text, String words) {
        assertMalformed(text.getBytes(StandardCharsets.US_ASCII), words);
    }

    private static void assertMalformed(byte[] bytes, String words) {
        assertThatThrownBy(() -> read(bytes))
                .isInstanceOf(FrameLayout.MalformedFrame.class)
                .hasMessageContaining(words);
    }
}
