package io.cassia.datadist.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.base.ByteString;
import io.cassia.datadist.Seeded;
import io.cassia.datadist.cache.BlocksCacheKey;
import io.cassia.datadist.cache.CacheDesc;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheKey;
import io.cassia.datadist.cache.CacheRef;
import io.cassia.datadist.cache.LayerRange;
import io.cassia.datadist.cache.Pieces;
import io.cassia.datadist.link.WireReader;
import io.cassia.datadist.link.WireWriter;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

final class MessagesTest {
    @Test
    void requests_and_answers_survive() {
        Seeded.check(
                300,
                random -> {
                    PullRequest pull =
                            new PullRequest(
                                    ref(random),
                                    new LayerRange(random.nextInt(-1, 9), random.nextInt(-1, 9)),
                                    random.nextInt(256),
                                    random.nextInt(100_000),
                                    shape(random),
                                    random.nextBoolean(),
                                    random.nextLong(1L << 50),
                                    random.nextLong(1L << 50));
                    assertThat(PullRequest.decode(pull.encode())).isEqualTo(pull);
                    GrantMessage grant = grant(random);
                    assertThat(GrantMessage.decode(grant.encode())).isEqualTo(grant);
                    DoneMessage done =
                            new DoneMessage(
                                    random.nextLong(1L << 60),
                                    random.nextLong(1L << 60),
                                    random.nextInt(1000),
                                    random.nextBoolean()
                                            ? Outcome.done()
                                            : Outcome.failed(LlmStatus.LLM_TIMEOUT, "late"));
                    assertThat(DoneMessage.decode(done.encode())).isEqualTo(done);
                });
    }

    @Test
    void pushes_survive_with_all_their_pieces() {
        Seeded.check(
                200,
                random -> {
                    Pieces.Builder pieces = new Pieces.Builder(4);
                    for (int i = random.nextInt(1, 50); i > 0; i--) {
                        pieces.add(
                                random.nextLong(1L << 40),
                                random.nextLong(1L << 40),
                                random.nextLong(1, 1L << 30));
                    }
                    PushRequest push =
                            new PushRequest(
                                    target(random),
                                    shape(random),
                                    pieces.build(),
                                    grant(random),
                                    random.nextLong(1L << 50));
                    PushRequest back = PushRequest.decode(push.encode());
                    assertThat(back.target()).isEqualTo(push.target());
                    assertThat(back.shape()).isEqualTo(push.shape());
                    assertThat(back.grant()).isEqualTo(push.grant());
                    assertThat(back.budgetMicros()).isEqualTo(push.budgetMicros());
                    assertThat(back.pieces().count()).isEqualTo(push.pieces().count());
                    for (int i = 0; i < back.pieces().count(); i++) {
                        assertThat(back.pieces().srcOffset(i))
                                .isEqualTo(push.pieces().srcOffset(i));
                        assertThat(back.pieces().dstOffset(i))
                                .isEqualTo(push.pieces().dstOffset(i));
                        assertThat(back.pieces().lengthBytes(i))
                                .isEqualTo(push.pieces().lengthBytes(i));
                    }
                });
    }

    @Test
    void bytes_of_a_pull_are_pinned() {
        PullRequest pull =
                new PullRequest(
                        CacheKey.request(1, 7),
                        LayerRange.ALL,
                        2,
                        64,
                        new Shape.Span(0, 4096),
                        true,
                        1_000_000,
                        0);
        assertThat(HexFormat.of().formatHex(pull.encode().array()))
                .isEqualTo(
                        "02"
                                + "0000000000000001"
                                + "0000000000000007"
                                + "0000000000000000"
                                + "ffffffffffffffff"
                                + "0101"
                                + "02"
                                + "40"
                                + "01008020"
                                + "01"
                                + "c0843d"
                                + "00");
    }

    /** The most pieces of one message, at their worst, stay below its limit. */
    @Test
    void a_full_push_fits_its_frame() {
        for (int tensors : new int[] {1, 64, CacheDesc.MAX_TENSORS}) {
            List<Long> addresses = new ArrayList<>();
            for (int i = 0; i < tensors; i++) {
                addresses.add(i % 2 == 0 ? Long.MIN_VALUE : 0);
            }
            int count = PushCall.maxPieces(tensors);
            assertThat(count).isGreaterThan(10_000);
            Pieces.Builder pieces = new Pieces.Builder(count);
            for (int i = 0; i < count; i++) {
                pieces.add(i % 2 == 0 ? 1L << 61 : 0, i % 2 == 0 ? 0 : 1L << 61, 1L << 60);
            }
            PushRequest push =
                    new PushRequest(
                            new PushTarget.ToCache(new CacheIndex(1, 1), 0, 9, 2),
                            new Shape.Blocks(1, 1),
                            pieces.build(),
                            new GrantMessage(1, true, addresses),
                            1);
            assertThat(push.pieces().count()).isEqualTo(count);
            assertThat(push.encode().length()).isLessThanOrEqualTo(1 << 20);
        }
    }

    @Test
    void nonsense_is_refused_and_never_worse() {
        Seeded.check(
                1000,
                random -> {
                    byte[] bytes = new byte[random.nextInt(100)];
                    random.nextBytes(bytes);
                    if (bytes.length > 0 && random.nextBoolean()) {
                        bytes[0] = (byte) random.nextInt(1, 4);
                    }
                    ByteString body = ByteString.wrap(bytes);
                    tolerates(() -> PullRequest.decode(body));
                    tolerates(() -> PushRequest.decode(body));
                    tolerates(() -> GrantMessage.decode(body));
                    tolerates(() -> DoneMessage.decode(body));
                });
    }

    @Test
    void pieces_out_of_range_are_refused() {
        WireWriter out = new WireWriter();
        ByteString body =
                new PushTarget.ToAddresses(List.of(1L), 8)
                        .write(out)
                        .u8(1)
                        .varint(0)
                        .varint(8)
                        .varint(1)
                        .flag(true)
                        .varint(0)
                        .varint(1)
                        .varint(1)
                        .signed(-5)
                        .signed(0)
                        .varint(8)
                        .toBody();
        assertThatThrownBy(() -> PushRequest.decode(body))
                .isInstanceOf(WireReader.Malformed.class)
                .hasMessageContaining("out of range");
    }

    private static void tolerates(Supplier<?> decode) {
        try {
            assertThat(decode.get()).isNotNull();
        } catch (WireReader.Malformed e) {
            assertThat(e.getMessage()).isNotEmpty();
        }
    }

    private static GrantMessage grant(SplittableRandom random) {
        List<Long> addresses = new ArrayList<>();
        for (int i = random.nextInt(20); i > 0; i--) {
            addresses.add(random.nextLong());
        }
        return new GrantMessage(random.nextLong(1L << 62), random.nextBoolean(), addresses);
    }

    private static CacheRef ref(SplittableRandom random) {
        return switch (random.nextInt(3)) {
            case 0 -> new CacheIndex(random.nextLong(), random.nextLong(), random.nextInt());
            case 1 ->
                    new CacheKey(
                            random.nextLong(),
                            random.nextLong(),
                            random.nextLong(),
                            random.nextLong());
            default -> new BlocksCacheKey(random.nextLong(), random.nextLong());
        };
    }

    private static Shape shape(SplittableRandom random) {
        return switch (random.nextInt(3)) {
            case 0 -> new Shape.Span(random.nextLong(1L << 50), random.nextLong(1L << 50));
            case 1 -> new Shape.Blocks(random.nextLong(1L << 50), random.nextLong(1L << 50));
            default ->
                    new Shape.BatchToBlocks(
                            random.nextLong(1L << 50),
                            random.nextLong(1L << 50),
                            random.nextLong(1L << 50));
        };
    }

    private static PushTarget target(SplittableRandom random) {
        return random.nextBoolean()
                ? new PushTarget.ToCache(
                        ref(random), random.nextInt(-1, 5), random.nextInt(-1, 5), 2)
                : new PushTarget.ToAddresses(
                        List.of(random.nextLong(), random.nextLong()), random.nextLong(1L << 50));
    }
}
