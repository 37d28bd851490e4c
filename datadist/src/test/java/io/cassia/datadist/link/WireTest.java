package io.cassia.datadist.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.base.ByteString;
import io.cassia.datadist.Seeded;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Family;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.status.UnknownCode;
import java.util.HexFormat;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class WireTest {
    @Test
    void numbers_survive_in_every_form() {
        Seeded.check(
                500,
                random -> {
                    long any = random.nextLong() >> random.nextInt(64);
                    ByteString body =
                            new WireWriter()
                                    .varint(any)
                                    .signed(any)
                                    .i64(any)
                                    .i32((int) any)
                                    .u8((int) any)
                                    .toBody();
                    WireReader in = new WireReader(body);
                    assertThat(in.varint()).isEqualTo(any);
                    assertThat(in.signed()).isEqualTo(any);
                    assertThat(in.i64()).isEqualTo(any);
                    assertThat(in.i32()).isEqualTo((int) any);
                    assertThat(in.u8()).isEqualTo((int) any & 0xFF);
                });
    }

    @Test
    void bytes_of_numbers_and_texts_are_pinned() {
        ByteString body =
                new WireWriter().varint(300).signed(-1).signed(1).text("é").flag(true).toBody();
        assertThat(HexFormat.of().formatHex(body.array()))
                .isEqualTo("ac02" + "01" + "02" + "02c3a9" + "01");
    }

    /** Invariant 9: what stands on the wire is the documented number. */
    @ParameterizedTest
    @EnumSource(LlmStatus.class)
    void a_status_is_its_number_on_the_wire(LlmStatus status) {
        if (status.isOk()) {
            assertThat(StatusMessage.encode(Outcome.done()).array()).containsExactly(0, 0, 0, 0, 0);
            return;
        }
        ByteString body = StatusMessage.encode(Outcome.failed(status, "why"));
        assertThat(new WireReader(body).i32()).isEqualTo(status.number());
        assertThat(StatusMessage.decode(body)).isEqualTo(Outcome.failed(status, "why"));
    }

    @Test
    void a_number_that_is_not_known_stays_one() {
        ByteString body = new WireWriter().i32(0x5010B003).text("twice").toBody();
        Code unknown = new UnknownCode(Family.LLM_DATADIST, 0x5010B003);
        assertThat(StatusMessage.decode(body)).isEqualTo(Outcome.<Done>failed(unknown, "twice"));
    }

    @Test
    void long_details_are_cut() {
        Outcome<Done> outcome = Outcome.failed(LlmStatus.LLM_FAILED, "x".repeat(100_000));
        assertThat(StatusMessage.encode(outcome).length()).isLessThan(1100);
    }

    @Test
    void lists_that_claim_more_than_is_there_are_refused() {
        ByteString body = new WireWriter().varint(1_000_000).i64(1).toBody();
        assertThatThrownBy(() -> new WireReader(body).count(1))
                .isInstanceOf(WireReader.Malformed.class)
                .hasMessageContaining("1000000 items");
        ByteString negative = new WireWriter().varint(-1).toBody();
        assertThatThrownBy(() -> new WireReader(negative).bytes())
                .isInstanceOf(WireReader.Malformed.class);
        ByteString endless = ByteString.wrap(HexFormat.of().parseHex("ff".repeat(11)));
        assertThatThrownBy(() -> new WireReader(endless).varint())
                .isInstanceOf(WireReader.Malformed.class);
    }

    @Test
    void handshake_messages_survive() {
        Peer peer = new Peer(-1L, LlmRole.MIX, Long.MIN_VALUE, true, false, "[::1]:15001");
        ByteString nonce = ByteString.wrap(new byte[Hello.NONCE_BYTES]);
        Hello hello = new Hello(true, 77, peer, nonce, 1234);
        assertThat(Hello.decode(hello.encode())).isEqualTo(hello);
        Challenge challenge = new Challenge(peer, nonce, true);
        assertThat(Challenge.decode(challenge.encode())).isEqualTo(challenge);
    }

    @Test
    void random_bytes_never_do_worse_than_be_refused() {
        Seeded.check(
                500,
                random -> {
                    byte[] bytes = new byte[random.nextInt(80)];
                    random.nextBytes(bytes);
                    ByteString body = ByteString.wrap(bytes);
                    tolerates(() -> Hello.decode(body));
                    tolerates(() -> Challenge.decode(body));
                    tolerates(() -> StatusMessage.decode(body));
                });
    }

    private static void tolerates(Supplier<?> decode) {
        try {
            assertThat(decode.get()).isNotNull();
        } catch (WireReader.Malformed e) {
            assertThat(e.getMessage()).isNotEmpty();
        }
    }
}
