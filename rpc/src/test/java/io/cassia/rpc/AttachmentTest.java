package io.cassia.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.base.ByteString;
import io.cassia.rpc.pack.Packed;
import io.cassia.rpc.pack.WireWriter;
import io.cassia.testkit.Seeds;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Attachments as bytes. */
class AttachmentTest {
    private static byte[] written(Attachment attachment) {
        WireWriter writer = new WireWriter(0, 1 << 20);
        attachment.write(writer);
        return Arrays.copyOf(writer.array(), writer.position());
    }

    private static Optional<Attachment> parsed(byte[] bytes) {
        return Attachment.parse(bytes, 0, bytes.length);
    }

    @Test
    void layout_is_golden() {
        Attachment attachment =
                Attachment.NONE
                        .with(Attachment.DETAILS, ByteString.EMPTY)
                        .with(0x1234, ByteString.of("abc"));
        assertThat(Packed.hex(written(attachment)))
                .isEqualTo("43534131" + "0100" + "00000000" + "3412" + "03000000" + "616263");
        assertThat(parsed(written(attachment))).contains(attachment);
        assertThat(attachment.find(0x1234)).contains(ByteString.of("abc"));
        assertThat(attachment.find(7)).isEmpty();
        assertThat(written(Attachment.NONE)).isEmpty();
    }

    @Test
    void a_wish_for_details_alone_is_recognised() {
        assertThat(Packed.hex(written(Attachment.WANT_DETAILS))).isEqualTo("43534131010000000000");
        assertThat(parsed(written(Attachment.WANT_DETAILS))).contains(Attachment.WANT_DETAILS);
        assertThat(parsed(Packed.bytes("43534131020000000000")).orElseThrow().find(2)).isPresent();
    }

    @Test
    void what_is_no_attachment_is_none() {
        for (String hex :
                new String[] {
                    "",
                    "435341",
                    "43534132",
                    "4353413101",
                    "43534131010001000000",
                    "434341310100ffffffff",
                    "43534131" + "010000000000".repeat(65)
                }) {
            assertThat(parsed(Packed.bytes(hex))).as(hex).isEmpty();
        }
        assertThat(parsed(Packed.bytes("43534131" + "010000000000".repeat(64)))).isPresent();
    }

    @Test
    void a_tag_has_16_bits() {
        assertThatThrownBy(() -> Attachment.NONE.with(65_536, ByteString.EMPTY))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void changed_bytes_make_an_attachment_or_none() {
        byte[] bytes =
                written(
                        Attachment.NONE
                                .with(1, ByteString.of("one"))
                                .with(2, ByteString.EMPTY)
                                .with(3, ByteString.of("three")));
        Seeds.forEach(
                2000,
                seed -> {
                    Random random = new Random(seed);
                    byte[] changed = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
                    for (int i = random.nextInt(3); i > 0 && changed.length > 0; i--) {
                        changed[random.nextInt(changed.length)] = (byte) random.nextInt();
                    }
                    parsed(changed)
                            .ifPresent(
                                    attachment ->
                                            assertThat(written(attachment).length)
                                                    .isLessThanOrEqualTo(changed.length));
                });
    }
}
